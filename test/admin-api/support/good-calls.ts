import { ADMIN_ROUTES, type AdminRoute } from '../../../layers/admin/api/route-table.ts'
import { catalogFor, HELLO, type TestGateway } from '../../support/gateway.ts'
import { type Admin, once, type Sent } from './admin.ts'

/** A call that is answered well: `GET /keys/key_1`, without its query. */
export type GoodCall = {
  readonly route: AdminRoute
  readonly address: string
  readonly query: string
  readonly sent: Required<Pick<Sent, 'body' | 'headers'>>
}

/** One of each route, to be made in turn. Those that revoke come last: a revoked key takes no more changes. */
export async function* goodCalls(admin: Admin, gateway: TestGateway): AsyncGenerator<GoodCall> {
  const { key, secret } = await gateway.issue({ name: 'acme', externalId: 'cus_acme' })
  const asked = (await gateway.post(secret, HELLO)).headers.get('x-request-id') ?? ''
  await admin.call(`POST /keys/${key.id}/rotate`, { headers: once() })
  const ownSecret = (digit: string) => ({ secret_sha256: digit.repeat(64), last_four: 'abcd' })
  const adminKey = { name: 'acme', scopes: ['keys.read'], allowlist: ['192.0.2.0/24'], daily_grant: '1' }
  const made = await admin.call('POST /admin-keys', { body: { ...adminKey, ...ownSecret('1') }, headers: once() })
  const [{ version }] = (await admin.call('GET /catalog/versions')).body.data
  const account = (await gateway.openAccount({ name: 'acme', externalId: 'cus_account' })).id
  const { key: alone } = await gateway.issue()
  const catalog = catalogFor('https://up.example/v1')
  const bodies: Record<string, object> = {
    'POST /keys': { name: 'other', credits: '1', external_id: 'cus_other' },
    'PATCH /keys/{id}': { rpm: 9 },
    'POST /keys/{id}/revoke': { confirm: 'acme' },
    'POST /keys/{id}/grants': { credits: '1' },
    'POST /keys/{id}/adopt': { account },
    'POST /accounts': { name: 'other', credits: '1', external_id: 'cus_new' },
    'PATCH /accounts/{id}': { note: 'late' },
    'POST /accounts/{id}/grants': { credits: '1' },
    'POST /accounts/{id}/close': { confirm: 'acme' },
    'PUT /catalog': catalog,
    'POST /plans': { name: 'gold', factor: '1.25', rpm: 60 },
    'PATCH /plans/{name}': { factor: '1.5' },
    'POST /catalog/check': { ...catalog, models: 1 },
    'POST /admin-keys': { ...adminKey, ...ownSecret('2') },
    'POST /admin-keys/{id}/rotate': ownSecret('3'),
    'POST /admin-keys/{id}/revoke': { confirm: 'acme' },
  }
  const idIn = (path: string) => {
    if (path.endsWith('/adopt')) return alone.id
    const of: Record<string, string> = { requests: asked, 'admin-keys': made.body.id, accounts: account }
    return of[path.split('/')[1] ?? ''] ?? key.id
  }
  const last = ({ path }: AdminRoute) => Number(path.endsWith('/revoke') || path.endsWith('/close'))
  for (const route of ADMIN_ROUTES.toSorted((a, b) => last(a) - last(b))) {
    const { method, path } = route
    const ofCatalog = version + Number(path !== '/catalog')
    const ofOwner = async () =>
      (await admin.call(`GET ${path.startsWith('/accounts') ? `/accounts/${account}` : `/keys/${key.id}`}`)).body
        .version
    const ofPlan = async () => (await admin.call('GET /catalog')).body.version
    const isOfPlan = path.startsWith('/plans')
    const seen = path.startsWith('/catalog') ? ofCatalog : isOfPlan ? await ofPlan() : await ofOwner()
    yield {
      route,
      address: `${method} ${path.replace('{id}', idIn(path)).replace('{version}', '1').replace('{name}', 'gold')}`,
      query: path === '/search' ? '?q=acme' : '',
      sent: { body: bodies[`${method} ${path}`] ?? {}, headers: { ...once(), 'if-match': `"${seen}"` } },
    }
  }
}
