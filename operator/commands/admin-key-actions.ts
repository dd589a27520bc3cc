import { randomBytes } from 'node:crypto'
import { BRAND } from '../../layers/gateway/contract.ts'
import { type AdminKey, type AdminKeySettings, newAdminKey } from '../../layers/gateway/domain/admin-key.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money.ts'
import { issueSecret } from '../../layers/gateway/domain/new-key.ts'
import { isoTime } from '../../layers/gateway/domain/time.ts'
import {
  createAdminKey,
  listAdminKeys,
  revokeAdminKey,
  rotateAdminKey,
} from '../../layers/gateway/store/admin-keys/admin-keys.ts'
import { allowanceAt, grantedOnDay } from '../../layers/gateway/store/admin-keys/allowance.ts'
import type { ChangeResult } from '../../layers/gateway/store/keys/change-key.ts'
import { WriteOutcomeUnknown } from '../../layers/gateway/store/transact.ts'
import { CliError } from '../terminal/cli-error.ts'
import { printFields, printJson } from '../terminal/output.ts'
import { printTable, wide } from '../terminal/table.ts'
import { type NamedKey, onlyKey } from './find-key.ts'
import type { Session } from './run.ts'
import { changeLine, showChanges, showRotated } from './show-change.ts'
import { ONLY_TIME, STATUS_STYLES, showSecretOfUnknownOutcome } from './show-key.ts'

export type CreateOptions = Pick<AdminKeySettings, 'name' | 'scopes' | 'dailyGrant'> & {
  readonly allow: readonly string[]
}

export async function createAction(
  session: Session,
  { name, scopes, allow, dailyGrant }: CreateOptions,
): Promise<void> {
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
    await showNew(session, key, secret)
  })
}

export async function listAction({ tables, out, json, nowMs }: Session): Promise<void> {
  const keys = await Array.fromAsync(listAdminKeys(tables)())
  const views = await Promise.all(
    keys.sort((a, b) => b.createdAtMs - a.createdAtMs).map((key) => viewOf(tables, key, nowMs)),
  )
  if (json) return printJson(out, views)
  printTable(out, views, {
    id: wide((key) => key.id),
    name: (key) => key.name,
    status: { of: (key) => key.status, style: (key) => STATUS_STYLES[key.status] },
    key: { of: (key) => `${key.prefix}…${key.last_four}`, short: (key) => `…${key.last_four}` },
    scopes: (key) => key.scopes.join(' '),
    'allowed from': (key) => key.allowlist.join(' '),
    'daily grant': (key) => key.daily_grant,
    'granted today': (key) => key.granted_today,
  })
}

export async function rotateAction(session: Session, named: string): Promise<void> {
  const { tables, out } = session
  const { id, name } = await namedKey(session, named)
  await session.confirm(() => `rotate the admin key ${id} (${name})`)
  const { secret, stored } = issueSecret(BRAND.adminKeyPrefix, randomBytes)
  const act = await session.newAct()
  await keepingSecret(session, id, secret, async () => {
    const key = await viewOf(tables, changed(await rotateAdminKey(tables)(id, stored, act), id), session.nowMs)
    if (session.json) printJson(out, { ...key, secret })
    else showRotated(key, secret, out)
  })
}

export async function revokeAction(session: Session, named: string): Promise<void> {
  const { tables, out } = session
  const { id, name, status } = await namedKey(session, named)
  await session.confirm(() => `revoke the admin key ${id} (${name})`)
  const result = await revokeAdminKey(tables)(id, await session.newAct())
  const key = await viewOf(tables, changed(result, id), session.nowMs)
  if (session.json) printJson(out, key)
  else showChanges(key, [changeLine('status', status, key.status)], out)
}

/** By its id, name or last four. */
async function namedKey({ tables }: Session, text: string): Promise<NamedKey> {
  const keys = await Array.fromAsync(listAdminKeys(tables)())
  return onlyKey(
    keys.map(({ id, name, status, current }) => ({ id, name, status, last_four: current.lastFour })),
    text,
    { noun: 'admin key', list: 'waybill admin-keys list' },
  )
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

async function showNew({ tables, out, json, nowMs }: Session, key: AdminKey, secret: string): Promise<void> {
  const view = await viewOf(tables, key, nowMs)
  if (json) return printJson(out, { ...view, secret })
  printFields(out, {
    id: view.id,
    name: view.name,
    status: view.status,
    key: `${view.prefix}…${view.last_four}`,
    scopes: view.scopes.join(', '),
    'allowed from': view.allowlist.join(', '),
    'daily grant': view.daily_grant,
    'granted today': view.granted_today,
    created: view.created_at,
  })
  out.log(`\n${secret}\n\n${ONLY_TIME}`)
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
    ? new CliError(`There is no admin key '${id}'. 'waybill admin-keys list' shows those that exist.`)
    : new CliError(`The admin key ${id} is revoked, and that is final.`)
}
