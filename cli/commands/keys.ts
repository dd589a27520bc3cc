import { Argument } from 'commander'
import type { GrantMade, GrantShape, KeyDetail, KeyShape, KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { SETTING_OPTIONS } from '../../layers/admin/settings/setting-fields.ts'
import { shownText } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { GRACE_MS } from '../../layers/gateway/domain/keys/key-settings.ts'
import { REFERENCE_DAYS } from '../../layers/gateway/domain/keys/reference.ts'
import { formatCredits, type Nano, parseCredits, parseSignedCredits } from '../../layers/gateway/domain/money/money.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { SETTINGS_FILE } from '../../layers/terminal/how-to-run.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { printList, summed, wide } from '../../layers/terminal/table.ts'
import * as args from './arguments.ts'
import { option, type SettingOptions, settingOptions, settingsOf } from './arguments.ts'
import { showNewSecret } from './new-secret.ts'
import { changeLine, KEY_COLUMNS, keyAt, lastUse, pathOf, rotationChanges, showChange, showKey } from './one-key.ts'
import type { Session } from './open-session.ts'
import type { CommandRow } from './run.ts'
import { shortTime } from './time-range.ts'

const GRACE_MINUTES = GRACE_MS / MINUTE_MS
const GRACE_WORDS = 'how long the old one stays valid; 0 ends it at once'

const referenceOption = (words: string) => option('--reference <text>', words, args.reference)

export const KEYS: CommandRow = {
  words: 'make and manage API keys; a key is named by its id, name, external id or last four',
  commands: {
    create: {
      words: 'make a key; its secret is shown once',
      options: [
        ...settingOptions(true),
        // Commander cannot print a bigint in its help.
        option('--credits <credits>', 'credits to begin with', args.credits).default(0n, '0'),
        referenceOption('the payment behind the credits, such as an invoice'),
      ],
      work: createAction,
    },
    list: {
      words: 'every key, newest first',
      options: [
        option('--external-id <id>', 'only the key with this id of yours', args.someExternalId),
        referenceOption('only keys that were granted credits under this reference'),
      ],
      work: listAction,
    },
    'show <key>': {
      words: 'one key',
      async work(session: Session, _: object, id: string) {
        const key = await keyAt(session, id)
        if (session.json) printJson(session.out, key)
        else showKey(key, session)
      },
    },
    'update <key>': {
      words: 'change limits; in force from the next request on',
      options: settingOptions(false),
      check(options: SettingOptions) {
        if (Object.keys(settingsOf(options, 0)).length > 0) return
        throw new CliError('Say what to change, for example --rpm 120.')
      },
      work: updateAction,
    },
    'grant <key>': {
      words: 'add credits, or correct a grant: -5 takes 5 back, if they are available',
      argument: new Argument('<credits>', 'how many').argParser((text) => formatCredits(args.grantedCredits(text))),
      options: [
        referenceOption('the payment behind them, such as an invoice'),
        option(
          '--again',
          `grant under a reference that the key was granted credits under within ${REFERENCE_DAYS} days`,
        ),
      ],
      work: grantAction,
    },
    'grants <key>': {
      words: 'the grants to a key, newest first',
      options: [referenceOption('only those under this reference')],
      work: grantsAction,
    },
    'rotate <key>': {
      words: 'issue a new secret; the old one stays valid for a while',
      options: [option('--grace <minutes>', GRACE_WORDS, args.wholeNumber(0, GRACE_MINUTES), GRACE_MINUTES)],
      work: rotateAction,
    },
    'end-grace <key>': { words: 'end the old secret of a rotated key now', work: changing('end-grace') },
    'suspend <key>': { words: 'refuse a key from the next request on, until it is resumed', work: changing('suspend') },
    'resume <key>': { words: 'admit a suspended key again', work: changing('resume') },
    'revoke <key>': { words: 'end a key now and for good', work: changing('revoke') },
  },
}

type CreateOptions = SettingOptions & { readonly name: string; readonly credits: Nano; readonly reference?: string }

async function createAction(session: Session, options: CreateOptions): Promise<void> {
  const settings = settingsOf(options, session.nowMs)
  const amount = formatCredits(options.credits)
  warnOfIpv6(session, settings.allowlist)
  await session.confirm(() => `create a key (${options.name}) with ${amount} credits`)
  const body = { ...settings, credits: amount, reference: options.reference }
  await showNewSecret<KeyWithSecret>(session, {
    prefix: BRAND.keyPrefix,
    save: (secret) => session.admin.once('/keys', { ...body, ...secret }),
    show: (key) => showKey(key, session),
    look: 'waybill keys list',
    otherwise: 'create one again',
  })
}

type ListOptions = { readonly externalId?: string; readonly reference?: string }

async function listAction(session: Session, { externalId: external_id, reference }: ListOptions): Promise<void> {
  printList(session, await session.admin.list<KeyShape>('/keys', { external_id, reference }), {
    ...KEY_COLUMNS,
    'external id': (key) => key.external_id,
    rpm: { of: (key) => key.rpm, isSpare: true },
    daily: { of: (key) => key.daily_limit, isSpare: true },
    available: summed((key) => key.available),
    held: { of: (key) => key.held, isSummed: true, isSpare: true },
    spent: summed((key) => key.spent),
    'last used': (key) => lastUse(key, session.nowMs),
  })
}

async function updateAction(session: Session, options: SettingOptions, id: string): Promise<void> {
  const settings = settingsOf(options, session.nowMs)
  warnOfIpv6(session, settings.allowlist)
  const before = await keyAt(session, id)
  await session.confirm(() => `update ${id} (${before.name}) (${Object.keys(settings).join(', ')})`)
  const after = await session.admin.change<KeyDetail>('PATCH', pathOf(id), settings, before.version)
  showChange(session, after, settingChanges(before, after))
}

/** The names are those of the options that change them. */
function settingChanges(before: KeyShape, after: KeyShape): string[] {
  return ASKED_SETTINGS.flatMap((setting) => {
    const { field } = SETTING_WORDS[setting]
    const [old, now] = [shownText(setting, before[field]), shownText(setting, after[field])]
    return old === now ? [] : [changeLine(SETTING_OPTIONS[setting].option, old, now)]
  })
}

type GrantOptions = { readonly reference?: string; readonly again?: boolean }

async function grantAction(session: Session, wish: GrantOptions, id: string, amount: string): Promise<void> {
  const body = { credits: amount, reference: wish.reference, again: wish.again }
  await session.confirm(async () => `grant ${amount} credits to ${id} (${(await keyAt(session, id)).name})`)
  const made = await session.admin.once<GrantMade>(`${pathOf(id)}/grants`, body)
  // Only grants change what was granted; requests change the balance at any moment.
  const { granted, available } = made.key
  const before = (parseCredits(granted) ?? 0n) - (parseSignedCredits(made.credits) ?? 0n)
  const changes = [changeLine('granted', formatCredits(before), granted), `available ${available}`]
  showChange(session, made.key, changes, made)
}

async function grantsAction(session: Session, { reference }: GrantOptions, id: string): Promise<void> {
  printList(session, await session.admin.list<GrantShape>(`${pathOf(id)}/grants`, { reference }), {
    at: { of: (grant) => grant.granted_at, short: (grant) => shortTime(grant.granted_at) },
    credits: summed((grant) => grant.credits),
    reference: (grant) => grant.reference,
    by: { of: (grant) => grant.by, isSpare: true },
    id: wide((grant) => grant.id),
  })
}

async function rotateAction(session: Session, { grace }: { grace: number }, id: string): Promise<void> {
  const { name, last_four, previous } = await keyAt(session, id)
  // A key has one old secret at most.
  if (previous)
    session.out.error(
      `warning: the secret …${previous.last_four} of an earlier rotation is in its grace period until ${previous.expires_at}. This rotation ends it at once.`,
    )
  await session.confirm(
    () => `rotate ${id} (${name})${grace === 0 ? `, and end its secret …${last_four} at once` : ''}`,
  )
  const body = { grace_seconds: grace * 60 }
  await showNewSecret<KeyWithSecret>(session, {
    prefix: BRAND.keyPrefix,
    id,
    save: (secret) => session.admin.once(`${pathOf(id)}/rotate`, { ...body, ...secret }),
    show: (key) => showChange(session, key, rotationChanges(key)),
    look: `waybill keys show ${shellWord(id)}`,
    otherwise: 'rotate again',
  })
}

function changing(act: 'suspend' | 'resume' | 'revoke' | 'end-grace') {
  return async (session: Session, _: object, id: string): Promise<void> => {
    const { name, status } = await keyAt(session, id)
    await session.confirm(() => `${act === 'end-grace' ? 'end the old secret of' : act} ${id} (${name})`)
    const body = act === 'revoke' ? { confirm: name } : {}
    const after = await session.admin.change<KeyDetail>('POST', `${pathOf(id)}/${act}`, body)
    const change = status === after.status ? `it was ${status} before` : changeLine('status', status, after.status)
    showChange(session, after, act === 'end-grace' ? rotationChanges(after) : [change])
  }
}

/** A client that has both may use either, and only one of them is on such a list. */
function warnOfIpv6({ ipv6, out }: Session, allowlist: readonly string[] = []): void {
  if (!ipv6 || allowlist.length === 0 || allowlist.some((range) => range.includes(':'))) return
  out.error(
    `warning: the list has IPv4 ranges only, and this gateway is reached over IPv6, too: a client that has both is refused whenever it comes by IPv6. Add its IPv6 ranges, or switch IPv6 off for CloudFront (ipv6 in ${SETTINGS_FILE}).`,
  )
}
