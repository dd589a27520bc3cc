import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { BRAND } from '../../layers/gateway/contract.ts'
import {
  ADMIN_SCOPES,
  type AdminKey,
  type AdminKeySettings,
  newAdminKey,
} from '../../layers/gateway/domain/admin-key.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money.ts'
import { issueSecret } from '../../layers/gateway/domain/new-key.ts'
import { isoTime } from '../../layers/gateway/domain/time.ts'
import {
  createAdminKey,
  listAdminKeys,
  readAdminKey,
  revokeAdminKey,
  rotateAdminKey,
} from '../../layers/gateway/store/admin-keys/admin-keys.ts'
import { allowanceAt, grantedOnDay } from '../../layers/gateway/store/admin-keys/allowance.ts'
import type { ChangeResult } from '../../layers/gateway/store/keys/change-key.ts'
import { WriteOutcomeUnknown } from '../../layers/gateway/store/transact.ts'
import { CliError } from '../terminal/cli-error.ts'
import { printFields, printJson, printTable } from '../terminal/output.ts'
import { adminScopeList, credits, keyName, someCidrs } from './arguments.ts'
import type { Run, Session } from './run.ts'
import { ONLY_TIME, showSecretOfUnknownOutcome } from './show-key.ts'

type CreateOptions = Pick<AdminKeySettings, 'name' | 'scopes' | 'dailyGrant'> & { readonly allow: readonly string[] }

export function adminKeysCommand(program: Command, run: Run): void {
  const keys = program
    .command('admin-keys')
    .description('make and end keys by which programs outside AWS call the admin API of a stage')

  keys
    .command('create')
    .description('make an admin key; its secret is shown once')
    .requiredOption('--name <name>', 'the program that it is for', keyName)
    .requiredOption('--scopes <list>', `what it may do: ${ADMIN_SCOPES.join(',')}`, adminScopeList)
    .requiredOption('--allow <list>', 'addresses it may be used from, as CIDR ranges', someCidrs)
    .requiredOption('--daily-grant <credits>', 'the most credits that it grants on a UTC day', credits)
    .action(run(createAction))

  keys.command('list').description('every admin key, newest first').action(run(listAction))

  keys
    .command('rotate <id>')
    .description('issue a new secret; the old one stays valid for 60 minutes')
    .action(run(rotateAction))

  keys.command('revoke <id>').description('end an admin key now and for good').action(run(revokeAction))
}

async function createAction(session: Session, { name, scopes, allow, dailyGrant }: CreateOptions): Promise<void> {
  const { tables, nowMs } = session
  await session.confirm(
    () => `create an admin key (${name}) that grants up to ${formatCredits(dailyGrant)} credits a day`,
  )
  const { secret, stored } = issueSecret(BRAND.adminKeyPrefix, randomBytes)
  const settings = { name, scopes, allowlist: allow, dailyGrant }
  const key = newAdminKey({ settings, stored }, nowMs, randomBytes(10))
  const act = await session.newAct()
  await keepingSecret(session, key.id, secret, async () => {
    await createAdminKey(tables)(key, act)
    await show(session, key, secret)
  })
}

async function listAction({ tables, out, json, nowMs }: Session): Promise<void> {
  const keys = await Array.fromAsync(listAdminKeys(tables)())
  const views = await Promise.all(
    keys.sort((a, b) => b.createdAtMs - a.createdAtMs).map((key) => viewOf(tables, key, nowMs)),
  )
  if (json) return printJson(out, views)
  printTable(out, views, {
    id: (key) => key.id,
    name: (key) => key.name,
    status: (key) => key.status,
    key: (key) => `${key.prefix}…${key.last_four}`,
    scopes: (key) => key.scopes.join(' '),
    'allowed from': (key) => key.allowlist.join(' '),
    'daily grant': (key) => key.daily_grant,
    'granted today': (key) => key.granted_today,
  })
}

async function rotateAction(session: Session, _: object, id: string): Promise<void> {
  const { tables } = session
  await confirmFor(session, id, 'rotate')
  const { secret, stored } = issueSecret(BRAND.adminKeyPrefix, randomBytes)
  const act = await session.newAct()
  await keepingSecret(session, id, secret, async () => {
    await show(session, changed(await rotateAdminKey(tables)(id, stored, act), id), secret)
  })
}

async function revokeAction(session: Session, _: object, id: string): Promise<void> {
  await confirmFor(session, id, 'revoke')
  await show(session, changed(await revokeAdminKey(session.tables)(id, await session.newAct()), id))
}

function confirmFor({ tables, confirm }: Session, id: string, verb: string): Promise<void> {
  return confirm(async () => {
    const key = await readAdminKey(tables)(id)
    if (!key) throw noSuchKey(id)
    return `${verb} the admin key ${id} (${key.name})`
  })
}

/** If the outcome is unknown, the new secret is shown and marked so: it may be the only one that works. */
async function keepingSecret(session: Session, id: string, secret: string, save: () => Promise<void>): Promise<void> {
  try {
    await save()
  } catch (error) {
    if (!(error instanceof WriteOutcomeUnknown)) throw error
    const look = 'waybill admin-keys list'
    showSecretOfUnknownOutcome({ id, secret, look, otherwise: 'do it again', reason: error.reason }, session)
  }
}

async function show({ tables, out, json, nowMs }: Session, key: AdminKey, secret?: string): Promise<void> {
  const view = await viewOf(tables, key, nowMs)
  if (json) return printJson(out, { ...view, ...(secret && { secret }) })
  printFields(out, {
    id: view.id,
    name: view.name,
    status: view.status,
    key: `${view.prefix}…${view.last_four}`,
    ...(view.previous && { 'old secret': `…${view.previous.last_four} valid until ${view.previous.expires_at}` }),
    scopes: view.scopes.join(', '),
    'allowed from': view.allowlist.join(', '),
    'daily grant': view.daily_grant,
    'granted today': view.granted_today,
    created: view.created_at,
  })
  if (secret) out.log(`\n${secret}\n\n${ONLY_TIME}`)
}

/** The admin key without its hash, in the form of the admin API's shapes. */
async function viewOf(tables: Session['tables'], key: AdminKey, nowMs: number) {
  const { id, name, status, current, previous, scopes, allowlist, dailyGrant, createdAtMs } = key
  const grantedToday: Nano = await grantedOnDay(tables)(allowanceAt(key, nowMs))
  return {
    id,
    name,
    status,
    prefix: BRAND.adminKeyPrefix,
    last_four: current.lastFour,
    previous:
      previous && previous.untilMs > nowMs
        ? { last_four: previous.lastFour, expires_at: isoTime(previous.untilMs) }
        : null,
    scopes,
    allowlist,
    daily_grant: dailyGrant,
    granted_today: grantedToday,
    created_at: isoTime(createdAtMs),
  }
}

function changed(result: ChangeResult<AdminKey>, id: string): AdminKey {
  if (result.changed) return result.key
  throw result.why === 'no_such_key'
    ? noSuchKey(id)
    : new CliError(`The admin key ${id} is revoked, and that is final.`)
}

function noSuchKey(id: string): CliError {
  return new CliError(`There is no admin key '${id}'. 'waybill admin-keys list' shows those that exist.`)
}
