import { text } from 'node:stream/consumers'
import type { Administered } from '../../../layers/admin/api/call.ts'
import { adminApi } from '../../../layers/admin/api/handle.ts'
import { OPERATOR_SCOPES, type OperatorScope } from '../../../layers/gateway/domain/keys/admin-scopes.ts'
import type { Tables } from '../../../layers/gateway/store/dynamodb/database.ts'

export type Sent = {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly scopes?: readonly OperatorScope[]
  readonly by?: string
}

export type Told<T> = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The parsed JSON. */
  readonly body: T
  readonly text: string
}

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that its test expects.
type Any = any

export type Admin = {
  /** `POST /keys`, with a JSON body. */
  call<T = Any>(route: string, sent?: Sent): Promise<Told<T>>
  /** The errors that were reported as unexpected. */
  readonly reports: unknown[]
}

/** The admin API over tables, called as its server calls it. */
export function adminOf(tables: Tables, given: Partial<Administered> = {}): Admin {
  const reports: unknown[] = []
  const administered = {
    tables,
    stage: 'dev',
    isProtected: false,
    chatUrl: 'https://gateway.example',
    clock: Date.now,
    apiKeys: { env: () => undefined, secret: async () => undefined },
    takesKeys: true,
    tellsNotices: true,
    ...given,
  }
  const api = adminApi(administered, (_, error) => reports.push(error))
  return {
    reports,
    async call(route, { body, headers = {}, scopes = OPERATOR_SCOPES, by = 'ann' } = {}) {
      const [method = '', address = ''] = route.split(' ')
      const { pathname, searchParams } = new URL(`/admin/v1${address}`, 'http://127.0.0.1')
      const answer = await api({
        method,
        path: pathname,
        query: searchParams,
        headers: { ...(method !== 'GET' && { 'content-type': 'application/json' }), ...headers },
        body: Buffer.from(bodyText(method, body)),
        identity: { by: async () => by, scopes },
      })
      const told = typeof answer.body === 'string' ? answer.body : await text(answer.body)
      const isJson = answer.headers['Content-Type'] === 'application/json'
      return { status: answer.status, headers: answer.headers, text: told, body: isJson ? JSON.parse(told) : undefined }
    },
  }
}

function bodyText(method: string, body: unknown): string {
  if (method === 'GET') return ''
  return typeof body === 'string' ? body : JSON.stringify(body ?? {})
}

type Page<T> = { readonly data: readonly T[]; readonly has_more: boolean; readonly last_id: string }

/** Each element of a list, asked for page by page: `GET /keys?limit=2`. */
export async function* walk<T = Any>({ call }: Pick<Admin, 'call'>, route: string): AsyncGenerator<T> {
  for (let after = '', more = true; more; ) {
    const { body } = await call<Page<T>>(`${route}&after=${after}`)
    yield* body.data
    ;[after, more] = [body.last_id, body.has_more]
  }
}

let made = 0

export function once(name = `once-${process.pid}-${made++}`): Record<string, string> {
  return { 'idempotency-key': name }
}
