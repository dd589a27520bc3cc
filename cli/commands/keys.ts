import { Argument } from 'commander'
import type { AccountDetail, AccountGrantMade } from '../../layers/admin/api/shapes/accounts.ts'
import type { GrantMade, GrantShape, KeyDetail, KeyShape, KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { GRACE_MS } from '../../layers/gateway/domain/keys/key-settings.ts'
import { REFERENCE_DAYS } from '../../layers/gateway/domain/keys/reference.ts'
import { formatCredits, type Nano, parseCredits, parseSignedCredits } from '../../layers/gateway/domain/money/money.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { SETTINGS_FILE } from '../../layers/terminal/how-to-run.ts'
import { CliError, printList, summed } from '../../layers/terminal/output.ts'
import { pathOf } from '../books/ask-books.ts'
import * as args from './arguments.ts'
import { keySettings, option, required, type SettingOption, type SettingOptions, settingsOf } from './arguments.ts'
import { showNewSecret } from './new-secret.ts'
import { BY, changeLine, KEY_COLUMNS, keyAt, lastUsed, rotationChanges, showChange, showKey } from './one-key.ts'
import type { CommandRow, CommandRows, Session } from './open-session.ts'
import { moments } from './time-range.ts'

const GRACE_MINUTES = GRACE_MS / MINUTE_MS
const GRACE_WORDS = 'how long the old one stays valid; 0 ends it at once'

const referenceOption = (words: string) => option('--reference <text>', words, args.reference)

export const BEGIN_OPTIONS = [
  // Commander cannot print a bigint in its help.
  option('--credits <credits>', 'credits to begin with', args.credits).default(0n, '0'),
  referenceOption('the payment behind the credits, such as an invoice'),
]

export function requireChange(given: object, example: string): void {
  if (Object.values(given).some((value) => value !== undefined)) return
  throw new CliError(`Say what to change, for example ${example}.`)
}

export function updateCommand(words: string, settings: readonly SettingOption[], example: string): CommandRow {
  return {
    words,
    options: settings.map(({ option }) => option),
    check: (options: SettingOptions) => requireChange(settingsOf(settings, options, 0), example),
    async work(session: Session, options: SettingOptions, id: string) {
      const given = settingsOf(settings, options, session.nowMs)
      warnOfIpv6(session, given.allowlist)
      const before = await keyAt<KeyDetail | AccountDetail>(session, id)
      await session.confirm(() => `update ${id} (${before.name}) (${Object.keys(given).join(', ')})`)
      const after = await session.admin.change<typeof before>('PATCH', pathOf(id), given, before.version)
      showChange(session, after, settingChanges(settings, before, after))
    },
  }
}

export function grantCommands(to: 'key' | 'account'): CommandRows {
  return {
    [`grant <${to}>`]: {
      words: 'add credits, or correct a grant: -5 takes 5 back, if they are available',
      argument: new Argument('<credits>', 'how many').argParser((text) => formatCredits(args.grantedCredits(text))),
      options: [
        referenceOption('the payment behind them, such as an invoice'),
        option(
          '--again',
          `grant under a reference that the ${to} was granted credits under within ${REFERENCE_DAYS} days`,
        ),
      ],
      work: grantAction,
    },
    [`grants <${to}>`]: {
      words: `the grants to ${to === 'key' ? 'a key' : 'an account'}, newest first`,
      options: [referenceOption('only those under this reference')],
      work: grantsAction,
    },
  }
}

const NEW = keySettings(true)

export const KEYS: CommandRow = {
  words: 'make and manage API keys; a key is named by its id, name, external id or last four',
  commands: {
    create: {
      words: 'make a key; its secret is shown once',
      options: [
        ...NEW.map((setting) => setting.option),
        ...BEGIN_OPTIONS,
        option('--account <account>', 'the account whose balance it uses, in place of credits of its own'),
      ],
      work: createAction,
    },
    list: {
      words: 'every key, newest first',
      options: [
        option('--external-id <id>', 'only the key with this id of yours', args.someExternalId),
        referenceOption('only keys that were granted credits under this reference'),
        option('--account <account>', 'only keys of this account'),
      ],
      work: listAction,
    },
    'show <key>': {
      words: 'one key',
      work: async (session: Session, _: object, id: string) => showKey(session, await keyAt(session, id)),
    },
    'update <key>': updateCommand('change limits; in force from the next request on', keySettings(false), '--rpm 120'),
    ...grantCommands('key'),
    'rotate <key>': {
      words: 'issue a new secret; the old one stays valid for a while',
      options: [option('--grace <minutes>', GRACE_WORDS, args.wholeNumber(0, GRACE_MINUTES), GRACE_MINUTES)],
      work: rotateAction,
    },
    'end-grace <key>': { words: 'end the old secret of a rotated key now', work: changing('end-grace') },
    'suspend <key>': { words: 'refuse a key from the next request on, until it is resumed', work: changing('suspend') },
    'resume <key>': { words: 'admit a suspended key again', work: changing('resume') },
    'revoke <key>': { words: 'end a key now and for good', work: changing('revoke') },
    'adopt <key>': {
      words: 'move a key with its balance into an account, for good; its secret and limits stay',
      options: [required('--account <account>', 'the account')],
      work: adoptAction,
    },
  },
}

type Joining = { readonly account?: string }
type CreateOptions = SettingOptions &
  Joining & { readonly name: string; readonly credits: Nano; readonly reference?: string }

async function createAction(session: Session, options: CreateOptions): Promise<void> {
  const settings = settingsOf(NEW, options, session.nowMs)
  const amount = formatCredits(options.credits)
  warnOfIpv6(session, settings.allowlist)
  const { account, reference } = options
  await session.confirm(
    async () =>
      `create a key (${options.name}) ${account ? `of ${account} (${(await keyAt(session, account)).name})` : `with ${amount} credits`}`,
  )
  const body = { ...settings, ...(account ? { account } : {}), credits: amount, reference }
  await showNewSecret<KeyWithSecret>(session, {
    prefix: BRAND.keyPrefix,
    save: (secret) => session.admin.once('/keys', { ...body, ...secret }),
    show: (key) => showKey(session, key),
    look: 'waybill keys list',
    otherwise: 'create one again',
  })
}

type ListOptions = Joining & { readonly externalId?: string; readonly reference?: string }

async function listAction(session: Session, options: ListOptions): Promise<void> {
  const { externalId: external_id, reference, account } = options
  printList(session, await session.admin.list<KeyShape>('/keys', { external_id, reference, account }), {
    ...KEY_COLUMNS,
    'external id': (key) => key.external_id,
    rpm: { of: (key) => key.rpm, isSpare: true },
    daily: { of: (key) => key.daily_limit, isSpare: true },
    available: {
      ...summed((key) => key.available),
      short: (key) => (key.account_name ? `of ${key.account_name}` : key.available),
    },
    held: { of: (key) => key.held, isSummed: true, isSpare: true },
    spent: summed((key) => key.spent),
    'last used': lastUsed(session.nowMs),
  })
}

/** Two options may be of one field. */
function settingChanges(settings: readonly SettingOption[], before: object, after: object): string[] {
  const lines = settings.flatMap(({ name, field, shown }) => {
    const [old = '', now = ''] = [before, after].map((one) => shown((one as SettingOptions)[field]))
    return old === now ? [] : [changeLine(name, old, now)]
  })
  return [...new Set(lines)]
}

type GrantOptions = { readonly reference?: string; readonly again?: boolean }

async function adoptAction(session: Session, { account }: { account: string }, id: string): Promise<void> {
  const { name, granted } = await keyAt(session, id)
  const into = async () => `${account} (${(await keyAt(session, account)).name})`
  await session.confirm(async () => `move ${id} (${name}) into ${await into()}, for good`)
  const after = await session.admin.change<KeyDetail>('POST', `${pathOf(id)}/adopt`, { account })
  showChange(session, after, [`account ${after.account_name}, to which its grants of ${granted} went`])
}

async function grantAction(session: Session, wish: GrantOptions, id: string, amount: string): Promise<void> {
  const body = { credits: amount, reference: wish.reference, again: wish.again }
  await session.confirm(async () => `grant ${amount} credits to ${id} (${(await keyAt(session, id)).name})`)
  const made = await session.admin.once<GrantMade | AccountGrantMade>(`${pathOf(id)}/grants`, body)
  const owner = 'account' in made ? made.account : made.key
  // Only grants change what was granted; requests change the balance at any moment.
  const { granted, available } = owner
  const before = (parseCredits(granted) ?? 0n) - (parseSignedCredits(made.credits) ?? 0n)
  showChange(session, owner, [changeLine('granted', formatCredits(before), granted), `available ${available}`], made)
}

async function grantsAction(session: Session, { reference }: GrantOptions, id: string): Promise<void> {
  printList(session, await session.admin.list<GrantShape>(`${pathOf(id)}/grants`, { reference }), {
    at: moments((grant) => grant.granted_at),
    credits: summed((grant) => grant.credits),
    reference: (grant) => grant.reference,
    by: { ...BY, isSpare: true },
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
  await showNewSecret<KeyWithSecret>(session, {
    prefix: BRAND.keyPrefix,
    id,
    save: (secret) => session.admin.once(`${pathOf(id)}/rotate`, { grace_seconds: grace * 60, ...secret }),
    show: (key) => showChange(session, key, rotationChanges(key)),
    look: `waybill keys show ${shellWord(id)}`,
    otherwise: 'rotate again',
  })
}

/** An act on a key or an account. Closing an account says what is left of it. */
export function changing(act: 'suspend' | 'resume' | 'revoke' | 'close' | 'end-grace') {
  return async (session: Session, _: object, id: string): Promise<void> => {
    const before = await keyAt<KeyDetail | AccountDetail>(session, id)
    const { name, status } = before
    const left = ({ available, held }: Pick<AccountDetail, 'available' | 'held'>) =>
      `${available} credits are left, and ${held} are held for open requests`
    const more = act === 'close' ? ` and its ${'key_count' in before ? before.key_count : 0} keys: ${left(before)}` : ''
    await session.confirm(() => `${act === 'end-grace' ? 'end the old secret of' : act} ${id} (${name})${more}`)
    const body = act === 'revoke' || act === 'close' ? { confirm: name } : {}
    const after = await session.admin.change<KeyDetail | AccountDetail>('POST', `${pathOf(id)}/${act}`, body)
    const change = changeLine('status', status, after.status)
    if (after.warnings?.some(({ code }) => code === 'unchanged')) showChange(session, after, [])
    else if (act === 'end-grace' && 'previous' in after) showChange(session, after, rotationChanges(after))
    else showChange(session, after, [change, ...(act === 'close' ? [left(after)] : [])])
  }
}

/** A client that has both may use either, and only one of them is on such a list. */
function warnOfIpv6({ ipv6, out }: Session, allowlist: readonly string[] = []): void {
  if (!ipv6 || allowlist.length === 0 || allowlist.some((range) => range.includes(':'))) return
  out.error(
    `warning: the list has IPv4 ranges only, and this gateway is reached over IPv6, too: a client that has both is refused whenever it comes by IPv6. Add its IPv6 ranges, or switch IPv6 off for CloudFront (ipv6 in ${SETTINGS_FILE}).`,
  )
}
