import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import type { GrantMade, KeyDetail, KeyShape, KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { BRAND } from '../../layers/gateway/contract.ts'
import { GRACE_MS } from '../../layers/gateway/domain/key-settings.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money.ts'
import { issueSecret } from '../../layers/gateway/domain/new-key.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/time.ts'
import { inWords, OutcomeUnknown } from '../admin-client/refusal.ts'
import { CliError } from '../terminal/cli-error.ts'
import { printJson, printTable } from '../terminal/output.ts'
import { credits, someCredits, someExternalId, wholeNumber } from './arguments.ts'
import { type SettingOptions, settingOptions, settingsOf } from './key-setting-options.ts'
import type { Run, Session } from './run.ts'
import { lastUse, showKey, showSecretOfUnknownOutcome } from './show-key.ts'

const GRACE_MINUTES = GRACE_MS / MINUTE_MS

export function keysCommand(program: Command, run: Run): void {
  const keys = program.command('keys').description('make and manage API keys')

  settingOptions(keys.command('create').description('make a key; its secret is shown once'), true)
    // Commander cannot print a bigint in its help.
    .addOption(new Option('--credits <credits>', 'credits to begin with').argParser(credits).default(0n, '0'))
    .action(run(createAction))

  keys
    .command('list')
    .description('every key, newest first')
    .option('--external-id <id>', 'only the key with this id of yours', someExternalId)
    .action(run(listAction))

  keys.command('show <id>').description('one key').action(run(showAction))

  const update = keys.command('update <id>').description('change limits; in force from the next request on')
  settingOptions(update, false).action(run(updateAction))

  keys.command('grant <id> <credits>').description('add credits').action(run(grantAction))

  keys
    .command('rotate <id>')
    .description('issue a new secret; the old one stays valid for a while')
    .option(
      '--grace <minutes>',
      'how long the old one stays valid; 0 ends it at once',
      wholeNumber(0, GRACE_MINUTES),
      GRACE_MINUTES,
    )
    .action(run(rotateAction))

  keys.command('end-grace <id>').description('end the old secret of a rotated key now').action(run(endGraceAction))

  keys
    .command('suspend <id>')
    .description('refuse a key from the next request on, until it is resumed')
    .action(run(suspendAction))

  keys.command('resume <id>').description('admit a suspended key again').action(run(resumeAction))

  keys.command('revoke <id>').description('end a key now and for good').action(run(revokeAction))
}

async function createAction(
  session: Session,
  options: SettingOptions & { name: string; credits: Nano },
): Promise<void> {
  const settings = settingsOf(options, session.nowMs)
  const amount = formatCredits(options.credits)
  warnOfIpv6(session, settings.allowlist)
  await session.confirm(() => `create a key (${options.name}) with ${amount} credits`)
  await showNewSecret(session, {
    path: '/keys',
    body: { ...settings, credits: amount },
    look: 'waybill keys list',
    otherwise: 'create one again',
  })
}

async function listAction(
  { admin, out, json, nowMs }: Session,
  options: { readonly externalId?: string },
): Promise<void> {
  const keys = await admin.list<KeyShape>('/keys', { external_id: options.externalId })
  if (json) return printJson(out, keys)
  printTable(out, keys.data, {
    id: (key) => key.id,
    name: (key) => key.name,
    status: (key) => key.status,
    key: (key) => `${key.prefix}…${key.last_four}`,
    'external id': (key) => key.external_id,
    rpm: (key) => key.rpm,
    daily: (key) => key.daily_limit,
    available: (key) => key.available,
    held: (key) => key.held,
    spent: (key) => key.spent,
    'last used': (key) => lastUse(key, nowMs),
  })
}

async function showAction(session: Session, _: object, id: string): Promise<void> {
  show(session, await knownKey(session, id))
}

async function updateAction(session: Session, options: SettingOptions, id: string): Promise<void> {
  const settings = settingsOf(options, session.nowMs)
  if (Object.keys(settings).length === 0) throw new CliError('Say what to change, for example --rpm 120.')
  warnOfIpv6(session, settings.allowlist)
  const { name, version } = await knownKey(session, id)
  await session.confirm(() => `update ${id} (${name}) (${Object.keys(settings).join(', ')})`)
  show(session, await session.admin.change('PATCH', pathOf(id), settings, version))
}

async function grantAction(session: Session, _: object, id: string, text: string): Promise<void> {
  const { admin, out, json, nowMs } = session
  const amount = formatCredits(checked(someCredits, text))
  await confirmFor(session, id, (key) => `grant ${amount} credits to ${key}`)
  const made = await existing(id, admin.once<GrantMade>(`${pathOf(id)}/grants`, { credits: amount }))
  if (json) printJson(out, made)
  else showKey(made.key, { out, nowMs })
}

async function rotateAction(session: Session, { grace }: { grace: number }, id: string): Promise<void> {
  const { name, last_four, previous } = await knownKey(session, id)
  if (previous) session.out.error(olderSecretEnds(previous))
  await session.confirm(
    () => `rotate ${id} (${name})${grace === 0 ? `, and end its secret …${last_four} at once` : ''}`,
  )
  const look = `waybill keys show ${id}`
  const body = { grace_seconds: grace * 60 }
  await showNewSecret(session, { id, path: `${pathOf(id)}/rotate`, body, look, otherwise: 'rotate again' })
}

/** A key has one old secret at most. */
function olderSecretEnds({ last_four, expires_at }: NonNullable<KeyDetail['previous']>): string {
  return `warning: the secret …${last_four} of an earlier rotation is in its grace period until ${expires_at}. This rotation ends it at once.`
}

async function endGraceAction(session: Session, _: object, id: string): Promise<void> {
  await confirmFor(session, id, (key) => `end the old secret of ${key}`)
  show(session, await existing(id, session.admin.change<KeyDetail>('POST', `${pathOf(id)}/end-grace`, {})))
}

async function suspendAction(session: Session, _: object, id: string): Promise<void> {
  await confirmFor(session, id, (key) => `suspend ${key}`)
  show(session, await existing(id, session.admin.change<KeyDetail>('POST', `${pathOf(id)}/suspend`, {})))
}

async function resumeAction(session: Session, _: object, id: string): Promise<void> {
  await confirmFor(session, id, (key) => `resume ${key}`)
  show(session, await existing(id, session.admin.change<KeyDetail>('POST', `${pathOf(id)}/resume`, {})))
}

async function revokeAction(session: Session, _: object, id: string): Promise<void> {
  const { name } = await knownKey(session, id)
  await session.confirm(() => `revoke ${id} (${name})`)
  show(session, await session.admin.change('POST', `${pathOf(id)}/revoke`, { confirm: name }))
}

/** A client that has both may use either, and only one of them is on such a list. */
function warnOfIpv6({ ipv6, out }: Session, allowlist: readonly string[] = []): void {
  if (!ipv6 || allowlist.length === 0 || allowlist.some((range) => range.includes(':'))) return
  out.error(
    'warning: the list has IPv4 ranges only, and this gateway is reached over IPv6, too: a client that has both is refused whenever it comes by IPv6. Add its IPv6 ranges, or switch IPv6 off for CloudFront (ipv6 in infra/settings.json).',
  )
}

function confirmFor(session: Session, id: string, describe: (key: string) => string): Promise<void> {
  return session.confirm(async () => describe(`${id} (${(await knownKey(session, id)).name})`))
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
    else showKey(key, { out, nowMs, secret })
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    showSecretOfUnknownOutcome(
      { ...(id !== undefined && { id }), secret, look, otherwise, reason: error.reason },
      session,
    )
  }
}

function show({ out, json, nowMs }: Session, key: KeyDetail): void {
  if (json) printJson(out, key)
  else showKey(key, { out, nowMs })
}

function knownKey({ admin }: Session, id: string): Promise<KeyDetail> {
  return existing(id, admin.get(pathOf(id)))
}

function existing<T>(id: string | undefined, asked: Promise<T>): Promise<T> {
  if (id === undefined) return asked
  return inWords(asked, { not_found: `There is no key '${id}'. 'waybill keys list' shows those that exist.` })
}

function pathOf(id: string): string {
  return `/keys/${encodeURIComponent(id)}`
}

function checked<T>(parse: (text: string) => T, text: string): T {
  try {
    return parse(text)
  } catch (error) {
    throw new CliError(`'${text}' is not an amount of credits. ${(error as Error).message}`)
  }
}
