import type { AdminKeyShape } from '../../layers/admin/api/shapes/keys.ts'
import type { AdminKeySettings } from '../../layers/gateway/domain/keys/admin-key.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { fields, printFields, printList } from '../../layers/terminal/output.ts'
import { adminScopeList, credits, keyName, required, someCidrs } from './arguments.ts'
import { onlyKey } from './find-key.ts'
import { showNewSecret } from './new-secret.ts'
import { changeLine, KEY_COLUMNS, rotationChanges, showChange } from './one-key.ts'
import type { CommandRow, Session } from './open-session.ts'

type CreateOptions = Pick<AdminKeySettings, 'name' | 'scopes' | 'dailyGrant'> & { readonly allow: readonly string[] }

export const ADMIN_KEYS: CommandRow = {
  words: 'make and end keys by which programs outside AWS call the admin API of a stage',
  commands: {
    create: {
      words: 'make an admin key; its secret is shown once',
      options: [
        required('--name <name>', 'the program that it is for', keyName),
        required('--scopes <list>', `what it may do: ${ADMIN_SCOPES.join(',')}`, adminScopeList),
        required('--allow <list>', 'addresses it may be used from, as CIDR ranges', someCidrs),
        required('--daily-grant <credits>', 'the most credits that it grants on a UTC day', credits),
      ],
      work: createAction,
    },
    list: { words: 'every admin key, newest first', work: listAction },
    'rotate <admin-key>': { words: 'issue a new secret; the old one stays valid for 60 minutes', work: rotateAction },
    'revoke <admin-key>': { words: 'end an admin key now and for good', work: revokeAction },
  },
}

const SECRET = { prefix: BRAND.adminKeyPrefix, look: 'waybill admin-keys list', otherwise: 'do it again' }

async function createAction(session: Session, { name, scopes, allow, dailyGrant }: CreateOptions): Promise<void> {
  const most = formatCredits(dailyGrant)
  await session.confirm(() => `create an admin key (${name}) that grants up to ${most} credits a day`)
  const body = { name, scopes, allowlist: allow, daily_grant: most }
  await showNewSecret<AdminKeyShape>(session, {
    ...SECRET,
    save: (secret) => session.admin.once('/admin-keys', { ...body, ...secret }),
    show: (key) => printFields(session.out, key),
  })
}

async function listAction(session: Session): Promise<void> {
  printList(session, await session.admin.list<AdminKeyShape>('/admin-keys'), {
    ...KEY_COLUMNS,
    scopes: (key) => key.scopes.join(' '),
    'allowed from': (key) => key.allowlist.join(' '),
    ...fields('daily_grant', 'granted_today'),
  })
}

async function rotateAction(session: Session, _: object, named: string): Promise<void> {
  const { id, name } = await namedKey(session, named)
  await session.confirm(() => `rotate the admin key ${id} (${name})`)
  await showNewSecret<AdminKeyShape>(session, {
    ...SECRET,
    save: (secret) => session.admin.once(`/admin-keys/${id}/rotate`, secret),
    show: (key) => showChange(session, key, rotationChanges(key)),
  })
}

async function revokeAction(session: Session, _: object, named: string): Promise<void> {
  const { id, name, status } = await namedKey(session, named)
  await session.confirm(() => `revoke the admin key ${id} (${name})`)
  const key = await session.admin.change<AdminKeyShape>('POST', `/admin-keys/${id}/revoke`, { confirm: name })
  showChange(session, key, [changeLine('status', status, key.status)])
}

async function namedKey({ admin }: Session, text: string): Promise<AdminKeyShape> {
  const { data } = await admin.list<AdminKeyShape>('/admin-keys')
  return onlyKey(data, text, 'admin key')
}
