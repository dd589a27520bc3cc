import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import type { AdminKeyShape } from '../../layers/admin/api/shapes/keys.ts'
import type { AdminKeySettings } from '../../layers/gateway/domain/keys/admin-key.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { printFields, printJson } from '../../layers/terminal/output.ts'
import { printTable, wide } from '../../layers/terminal/table.ts'
import type { Screen } from '../../layers/terminal/terminal.ts'
import { OutcomeUnknown } from '../admin-client/refusal.ts'
import { adminScopeList, credits, keyName, someCidrs } from './arguments.ts'
import { onlyKey } from './find-key.ts'
import type { Run, Session } from './run.ts'
import { changeLine, showChanges, showRotated } from './show-change.ts'
import { ONLY_TIME, STATUS_STYLES, showSecretOfUnknownOutcome } from './show-key.ts'

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
    .action(run<CreateOptions>(createAction))

  keys.command('list').description('every admin key, newest first').action(run(listAction))

  keys
    .command('rotate <admin-key>')
    .description('issue a new secret; the old one stays valid for 60 minutes')
    .action(run((session, _: object, named) => rotateAction(session, named)))

  keys
    .command('revoke <admin-key>')
    .description('end an admin key now and for good')
    .action(run((session, _: object, named) => revokeAction(session, named)))
}

async function createAction(session: Session, { name, scopes, allow, dailyGrant }: CreateOptions): Promise<void> {
  const most = formatCredits(dailyGrant)
  await session.confirm(() => `create an admin key (${name}) that grants up to ${most} credits a day`)
  const body = { name, scopes, allowlist: allow, daily_grant: most }
  await withNewSecret(session, '/admin-keys', body, (key, secret) => showNew(key, secret, session.out))
}

async function listAction({ admin, out, json }: Session): Promise<void> {
  const keys = await admin.list<AdminKeyShape>('/admin-keys')
  if (json) return printJson(out, keys)
  printTable(out, keys.data, {
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

async function rotateAction(session: Session, named: string): Promise<void> {
  const { id, name } = await namedKey(session, named)
  await session.confirm(() => `rotate the admin key ${id} (${name})`)
  await withNewSecret(session, `/admin-keys/${id}/rotate`, {}, (key, secret) => showRotated(key, secret, session.out))
}

async function revokeAction(session: Session, named: string): Promise<void> {
  const { id, name, status } = await namedKey(session, named)
  await session.confirm(() => `revoke the admin key ${id} (${name})`)
  const key = await session.admin.change<AdminKeyShape>('POST', `/admin-keys/${id}/revoke`, { confirm: name })
  if (session.json) printJson(session.out, key)
  else showChanges(key, [changeLine('status', status, key.status)], session.out)
}

/** By its id, name or last four. */
async function namedKey({ admin }: Session, text: string): Promise<AdminKeyShape> {
  const { data } = await admin.list<AdminKeyShape>('/admin-keys')
  return onlyKey(data, text, { noun: 'admin key', list: 'waybill admin-keys list' })
}

type Show = (key: AdminKeyShape, secret: string) => void

/** If the outcome is unknown, the new secret is shown and marked so: it may be the only one that works. */
async function withNewSecret(session: Session, path: string, body: object, show: Show): Promise<void> {
  const { secret, stored } = issueSecret(BRAND.adminKeyPrefix, randomBytes)
  const sent = { ...body, secret_sha256: stored.hash, last_four: stored.lastFour }
  try {
    const key = await session.admin.once<AdminKeyShape>(path, sent)
    if (session.json) printJson(session.out, { ...key, secret })
    else show(key, secret)
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    const look = 'waybill admin-keys list'
    showSecretOfUnknownOutcome({ secret, look, otherwise: 'do it again', reason: error.reason }, session)
  }
}

function showNew(key: AdminKeyShape, secret: string, out: Screen): void {
  printFields(out, {
    id: key.id,
    name: key.name,
    status: key.status,
    key: `${key.prefix}…${key.last_four}`,
    scopes: key.scopes.join(', '),
    'allowed from': key.allowlist.join(', '),
    'daily grant': key.daily_grant,
    'granted today': key.granted_today,
    created: key.created_at,
  })
  out.log(`\n${secret}\n\n${ONLY_TIME}`)
}
