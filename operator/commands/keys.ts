import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import { BRAND } from '../../layers/gateway/contract.ts'
import type { Key } from '../../layers/gateway/domain/key.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money.ts'
import { issueSecret, KEY_DEFAULTS } from '../../layers/gateway/domain/new-key.ts'
import type { ChangeResult } from '../../layers/gateway/store/keys/change-key.ts'
import { createKey } from '../../layers/gateway/store/keys/create-key.ts'
import { endGrace } from '../../layers/gateway/store/keys/end-grace.ts'
import { findByExternalId } from '../../layers/gateway/store/keys/external-id.ts'
import { grantCredits } from '../../layers/gateway/store/keys/grant-credits.ts'
import { listKeys } from '../../layers/gateway/store/keys/list-keys.ts'
import { revokeKey } from '../../layers/gateway/store/keys/revoke-key.ts'
import { rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { UnansweredWrite } from '../../layers/gateway/store/transact.ts'
import { agoText } from '../ago-text.ts'
import { credits, externalId, keyName, someCredits } from '../arguments.ts'
import { CliError } from '../cli-error.ts'
import { draftKey, externalIdTaken } from '../issue-key.ts'
import { keyView } from '../key-view.ts'
import { keysNamed } from '../keys-named.ts'
import { knownKey, noSuchKey } from '../known-key.ts'
import { printJson, printTable } from '../output.ts'
import type { Run, Session } from '../run.ts'
import { withoutNulls } from '../setting-changes.ts'
import { showKey, showUnsureSecret } from '../show-key.ts'
import { type SettingOptions, settingOptions, settingsOf } from './key-setting-options.ts'

export function keysCommand(program: Command, run: Run): void {
  const keys = program.command('keys').description('make and manage API keys')

  settingOptions(keys.command('create').description('make a key; its secret is shown once'))
    .requiredOption('--name <name>', 'what this key is for', keyName)
    // Commander cannot print a bigint in its help.
    .addOption(new Option('--credits <credits>', 'credits to begin with').argParser(credits).default(0n, '0'))
    .action(run(createAction))

  keys
    .command('list')
    .description('every key, newest first')
    .option('--external-id <id>', 'only the key with this id of yours', externalId)
    .action(run(listAction))

  keys.command('show <id>').description('one key').action(run(showAction))

  settingOptions(keys.command('update <id>').description('change limits; in force from the next request on'))
    .option('--name <name>', 'what this key is for', keyName)
    .action(run(updateAction))

  keys.command('grant <id> <credits>').description('add credits').action(run(grantAction))

  keys
    .command('rotate <id>')
    .description('issue a new secret; the old one stays valid for 60 minutes')
    .action(run(rotateAction))

  keys.command('end-grace <id>').description('end the old secret of a rotated key now').action(run(endGraceAction))

  keys.command('revoke <id>').description('end a key now and for good').action(run(revokeAction))
}

async function createAction(
  session: Session,
  options: SettingOptions & { name: string; credits: Nano },
): Promise<void> {
  const { tables, out, json, nowMs, whoAmI } = session
  const settings = { ...KEY_DEFAULTS, name: options.name, ...withoutNulls(settingsOf(options, nowMs)) }
  warnOfIpv6(session, settings.allowlist)
  await session.confirm(() => `create a key (${options.name}) with ${formatCredits(options.credits)} credits`)
  const { key, secret, act } = draftKey(
    { settings, credits: options.credits, prefix: BRAND.keyPrefix, by: await whoAmI() },
    nowMs,
  )
  await keepingSecret(session, { id: key.id, secret, otherwise: 'create one again' }, async () => {
    const result = await createKey(tables)(key, act)
    if (!result.created) throw externalIdTaken(key.externalId ?? '', result.ownerId)
    showKey(key, { out, json, nowMs, secret })
  })
}

async function listAction(
  { tables, out, json, nowMs }: Session,
  options: Pick<SettingOptions, 'externalId'>,
): Promise<void> {
  const all =
    options.externalId === undefined
      ? await Array.fromAsync(listKeys(tables)())
      : await keysNamed(tables, options.externalId)
  const views = all.sort((a, b) => b.createdAtMs - a.createdAtMs).map((key) => keyView(key, nowMs))
  if (json) return printJson(out, views)
  printTable(
    out,
    ['id', 'name', 'status', 'key', 'external id', 'rpm', 'daily', 'available', 'held', 'spent', 'last used'],
    views.map((key) => [
      key.id,
      key.name,
      key.status,
      `${key.prefix}…${key.lastFour}`,
      key.externalId,
      key.rpm,
      key.dailyLimit,
      key.available,
      key.held,
      key.spent,
      key.lastUsedAt === undefined ? 'never' : agoText(key.lastUsedAt, nowMs),
    ]),
  )
}

async function showAction({ tables, out, json, nowMs }: Session, _: object, id: string): Promise<void> {
  showKey(await knownKey(tables, id), { out, json, nowMs })
}

async function updateAction(session: Session, options: SettingOptions, id: string): Promise<void> {
  const { tables, out, json, nowMs } = session
  const settings = settingsOf(options, nowMs)
  if (Object.keys(settings).length === 0) throw new CliError('Say what to change, for example --rpm 120.')
  warnOfIpv6(session, settings.allowlist ?? [])
  await confirmFor(session, id, (key) => `update ${key} (${Object.keys(settings).join(', ')})`)
  const result = await updateKey(tables)(id, settings, await session.newAct())
  if (!result.changed && result.why === 'external_id_taken') throw await takenBy(tables, settings.externalId ?? '')
  showKey(changed(result, id), { out, json, nowMs })
}

async function grantAction(session: Session, _: object, id: string, text: string): Promise<void> {
  const { tables, out, json, nowMs } = session
  const amount = checked(someCredits, text)
  await confirmFor(session, id, (key) => `grant ${formatCredits(amount)} credits to ${key}`)
  showKey(changed(await grantCredits(tables)(id, amount, await session.newAct()), id), { out, json, nowMs })
}

async function rotateAction(session: Session, _: object, id: string): Promise<void> {
  const { tables, out, json, nowMs } = session
  await confirmFor(session, id, (key) => `rotate ${key}`)
  const { secret, stored } = issueSecret(BRAND.keyPrefix, randomBytes)
  const act = await session.newAct()
  await keepingSecret(session, { id, secret, otherwise: 'rotate again' }, async () => {
    showKey(changed(await rotateKey(tables)(id, stored, act), id), { out, json, nowMs, secret })
  })
}

async function endGraceAction(session: Session, _: object, id: string): Promise<void> {
  const { tables, out, json, nowMs } = session
  await confirmFor(session, id, (key) => `end the old secret of ${key}`)
  showKey(changed(await endGrace(tables)(id, await session.newAct()), id), { out, json, nowMs })
}

async function revokeAction(session: Session, _: object, id: string): Promise<void> {
  const { tables, out, json, nowMs } = session
  await confirmFor(session, id, (key) => `revoke ${key}`)
  showKey(changed(await revokeKey(tables)(id, await session.newAct()), id), { out, json, nowMs })
}

/** A client that has both comes by either, and only one of them is on such a list. */
function warnOfIpv6({ ipv6, out }: Session, allowlist: readonly string[]): void {
  if (!ipv6 || allowlist.length === 0 || allowlist.some((range) => range.includes(':'))) return
  out.error(
    'warning: the list has IPv4 ranges only, and this gateway is reached over IPv6, too: a client that has both is refused whenever it comes by IPv6. Add its IPv6 ranges, or switch IPv6 off for CloudFront (ipv6 in infra/settings.json).',
  )
}

function confirmFor({ tables, confirm }: Session, id: string, describe: (key: string) => string): Promise<void> {
  return confirm(async () => describe(`${id} (${(await knownKey(tables, id)).name})`))
}

type NewSecret = { readonly id: string; readonly secret: string; readonly otherwise: string }

/** Where nobody knows whether the new secret was saved, it is shown and marked so: it may be the only one that works. */
async function keepingSecret(session: Session, made: NewSecret, save: () => Promise<void>): Promise<void> {
  try {
    await save()
  } catch (error) {
    if (!(error instanceof UnansweredWrite)) throw error
    showUnsureSecret({ ...made, reason: error.reason }, session)
  }
}

async function takenBy(tables: Session['tables'], externalId: string): Promise<CliError> {
  return externalIdTaken(externalId, (await findByExternalId(tables)(externalId)) ?? 'another')
}

function checked<T>(parse: (text: string) => T, text: string): T {
  try {
    return parse(text)
  } catch (error) {
    throw new CliError(`'${text}' is not an amount of credits. ${(error as Error).message}`)
  }
}

function changed(result: ChangeResult, id: string): Key {
  if (result.changed) return result.key
  throw result.why === 'no_such_key' ? noSuchKey(id) : new CliError(`The key ${id} is revoked, and that is final.`)
}
