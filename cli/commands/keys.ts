import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import type { KeyDetail, KeyShape, KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { GRACE_MS } from '../../layers/gateway/domain/keys/key-settings.ts'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money/money.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { SETTINGS_FILE } from '../../layers/terminal/how-to-run.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { printTable, summed, wide } from '../../layers/terminal/table.ts'
import { OutcomeUnknown } from '../admin-client/refusal.ts'
import { credits, reference, someExternalId, wholeNumber } from './arguments.ts'
import { grantCommands } from './grants.ts'
import { type SettingOptions, settingOptions, settingsOf } from './key-setting-options.ts'
import { confirmFor, existing, knownKey, pathOf, showChange } from './one-key.ts'
import type { Run, Session } from './run.ts'
import { changeLine, settingChanges, showRotated } from './show-change.ts'
import { lastUse, STATUS_STYLES, showKey, showSecretOfUnknownOutcome } from './show-key.ts'

const GRACE_MINUTES = GRACE_MS / MINUTE_MS

export function keysCommand(program: Command, run: Run): void {
  const keys = program
    .command('keys')
    .description('make and manage API keys; a key is named by its id, name, external id or last four')

  settingOptions(keys.command('create').description('make a key; its secret is shown once'), true)
    // Commander cannot print a bigint in its help.
    .addOption(new Option('--credits <credits>', 'credits to begin with').argParser(credits).default(0n, '0'))
    .option('--reference <text>', 'the payment behind the credits, such as an invoice', reference)
    .action(run(createAction))

  keys
    .command('list')
    .description('every key, newest first')
    .option('--external-id <id>', 'only the key with this id of yours', someExternalId)
    .option('--reference <text>', 'only keys that were granted credits under this reference', reference)
    .action(run(listAction))

  keys.command('show <key>').description('one key').action(run(showAction))

  const update = keys
    .command('update <key>')
    .description('change limits; in force from the next request on')
    .hook('preAction', requireSetting)
  settingOptions(update, false).action(run(updateAction))

  grantCommands(keys, run)

  keys
    .command('rotate <key>')
    .description('issue a new secret; the old one stays valid for a while')
    .option(
      '--grace <minutes>',
      'how long the old one stays valid; 0 ends it at once',
      wholeNumber(0, GRACE_MINUTES),
      GRACE_MINUTES,
    )
    .action(run(rotateAction))

  keys.command('end-grace <key>').description('end the old secret of a rotated key now').action(run(endGraceAction))

  keys
    .command('suspend <key>')
    .description('refuse a key from the next request on, until it is resumed')
    .action(run(suspendAction))

  keys.command('resume <key>').description('admit a suspended key again').action(run(resumeAction))

  keys.command('revoke <key>').description('end a key now and for good').action(run(revokeAction))
}

async function createAction(
  session: Session,
  options: SettingOptions & { name: string; credits: Nano; reference?: string },
): Promise<void> {
  const settings = settingsOf(options, session.nowMs)
  const amount = formatCredits(options.credits)
  warnOfIpv6(session, settings.allowlist)
  await session.confirm(() => `create a key (${options.name}) with ${amount} credits`)
  await showNewSecret(session, {
    path: '/keys',
    body: { ...settings, credits: amount, reference: options.reference },
    look: 'waybill keys list',
    otherwise: 'create one again',
  })
}

async function listAction(
  { admin, out, json, nowMs }: Session,
  { externalId, reference }: { readonly externalId?: string; readonly reference?: string },
): Promise<void> {
  const keys = await admin.list<KeyShape>('/keys', { external_id: externalId, reference })
  if (json) return printJson(out, keys)
  printTable(out, keys.data, {
    id: wide((key) => key.id),
    name: (key) => key.name,
    status: { of: (key) => key.status, style: (key) => STATUS_STYLES[key.status] },
    key: { of: (key) => `${key.prefix}…${key.last_four}`, short: (key) => `…${key.last_four}` },
    'external id': (key) => key.external_id,
    rpm: { of: (key) => key.rpm, isSpare: true },
    daily: { of: (key) => key.daily_limit, isSpare: true },
    available: summed((key) => key.available),
    held: { of: (key) => key.held, isSummed: true, isSpare: true },
    spent: summed((key) => key.spent),
    'last used': (key) => lastUse(key, nowMs),
  })
}

async function showAction(session: Session, _: object, id: string): Promise<void> {
  const { out, json, nowMs } = session
  const key = await knownKey(session, id)
  if (json) printJson(out, key)
  else showKey(key, { out, nowMs })
}

function requireSetting(update: Command): void {
  if (Object.keys(settingsOf(update.opts(), 0)).length === 0) {
    throw new CliError('Say what to change, for example --rpm 120.')
  }
}

async function updateAction(session: Session, options: SettingOptions, id: string): Promise<void> {
  const settings = settingsOf(options, session.nowMs)
  warnOfIpv6(session, settings.allowlist)
  const before = await knownKey(session, id)
  await session.confirm(() => `update ${id} (${before.name}) (${Object.keys(settings).join(', ')})`)
  const after = await session.admin.change<KeyDetail>('PATCH', pathOf(id), settings, before.version)
  showChange(session, after, settingChanges(before, after))
}

async function rotateAction(session: Session, { grace }: { grace: number }, id: string): Promise<void> {
  const { name, last_four, previous } = await knownKey(session, id)
  if (previous) session.out.error(olderSecretEnds(previous))
  await session.confirm(
    () => `rotate ${id} (${name})${grace === 0 ? `, and end its secret …${last_four} at once` : ''}`,
  )
  const look = `waybill keys show ${shellWord(id)}`
  const body = { grace_seconds: grace * 60 }
  await showNewSecret(session, { id, path: `${pathOf(id)}/rotate`, body, look, otherwise: 'rotate again' })
}

/** A key has one old secret at most. */
function olderSecretEnds({ last_four, expires_at }: NonNullable<KeyDetail['previous']>): string {
  return `warning: the secret …${last_four} of an earlier rotation is in its grace period until ${expires_at}. This rotation ends it at once.`
}

async function endGraceAction(session: Session, _: object, id: string): Promise<void> {
  await confirmFor(session, id, (key) => `end the old secret of ${key}`)
  const after = await existing(id, session.admin.change<KeyDetail>('POST', `${pathOf(id)}/end-grace`, {}))
  showChange(session, after, [`only the secret …${after.last_four} is valid now`])
}

async function suspendAction(session: Session, _: object, id: string): Promise<void> {
  await changeStatus(session, id, 'suspend')
}

async function resumeAction(session: Session, _: object, id: string): Promise<void> {
  await changeStatus(session, id, 'resume')
}

async function changeStatus(session: Session, id: string, act: 'suspend' | 'resume'): Promise<void> {
  const { name, status } = await knownKey(session, id)
  await session.confirm(() => `${act} ${id} (${name})`)
  const after = await session.admin.change<KeyDetail>('POST', `${pathOf(id)}/${act}`, {})
  const change = status === after.status ? `it was ${status} before` : changeLine('status', status, after.status)
  showChange(session, after, [change])
}

async function revokeAction(session: Session, _: object, id: string): Promise<void> {
  const { name, status } = await knownKey(session, id)
  await session.confirm(() => `revoke ${id} (${name})`)
  const after = await session.admin.change<KeyDetail>('POST', `${pathOf(id)}/revoke`, { confirm: name })
  showChange(session, after, [changeLine('status', status, after.status)])
}

/** A client that has both may use either, and only one of them is on such a list. */
function warnOfIpv6({ ipv6, out }: Session, allowlist: readonly string[] = []): void {
  if (!ipv6 || allowlist.length === 0 || allowlist.some((range) => range.includes(':'))) return
  out.error(
    `warning: the list has IPv4 ranges only, and this gateway is reached over IPv6, too: a client that has both is refused whenever it comes by IPv6. Add its IPv6 ranges, or switch IPv6 off for CloudFront (ipv6 in ${SETTINGS_FILE}).`,
  )
}

type NewSecret = {
  /** The key's id, if it exists already. */
  readonly id?: string
  readonly path: string
  readonly body: object
  readonly look: string
  readonly otherwise: string
}

/**
 * Only the hash and the end of the secret are sent. If the outcome is unknown, it is shown: it may be the only one that
 * works.
 */
async function showNewSecret(session: Session, { id, path, body, look, otherwise }: NewSecret): Promise<void> {
  const { admin, out, json, nowMs } = session
  const { secret, stored } = issueSecret(BRAND.keyPrefix, randomBytes)
  const sent = { ...body, secret_sha256: stored.hash, last_four: stored.lastFour }
  try {
    const key = await existing(id, admin.once<KeyWithSecret>(path, sent))
    if (json) printJson(out, { ...key, secret })
    else if (id === undefined) showKey(key, { out, nowMs, secret })
    else showRotated(key, secret, out)
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    showSecretOfUnknownOutcome(
      { ...(id !== undefined && { id }), secret, look, otherwise, reason: error.reason },
      session,
    )
  }
}
