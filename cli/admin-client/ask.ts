import { randomUUID } from 'node:crypto'
import type { AdminAsk } from '../../layers/admin/api/call.ts'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import { ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import { jsonLines, listed } from '../books/ask-books.ts'
import type { AdminClient } from './http-client.ts'
import { OutcomeUnknown, Refusal } from './refusal.ts'

/** Undefined parameters are left out. */
type Query = Readonly<Record<string, string | number | undefined>>

export type Ask = ReturnType<typeof ask>

/** Throws if a change is not to be made in spite of these warnings. */
type Insist = (warnings: string) => Promise<void>

/** Fields that are sent with a change that is meant, by the refusal before. */
const MEANT: Readonly<Record<string, object>> = { needs_confirmation: {}, below_cost: { below_cost: true } }

/** The admin API for commands. Paths are those of its routes, without /admin/v1. Refusals are thrown as CliErrors. */
export function ask(client: AdminClient, insist?: Insist) {
  const get = <T>(path: string, query?: Query) => json<T>(requestOf('GET', path, { query }))
  return {
    get,

    list: <T>(path: string, query?: Query, most?: number): Promise<List<T>> => listed<T>(get, path, query, most),

    /** An answer of another type, in pieces as they come. */
    text: async (path: string, query: Query, accept: string): Promise<AsyncIterable<string>> =>
      piecesOf(await answer(requestOf('GET', path, { query, headers: { accept } }))),

    async *lines<T>(path: string, body: object): AsyncGenerator<T> {
      yield* jsonLines<T>(piecesOf(await answer(requestOf('POST', path, { body }))))
    },

    /** A test or check, which changes nothing. */
    check: <T>(path: string, body: object) => json<T>(requestOf('POST', path, { body })),

    /** A change, which is sent once. With `version`, it is made only to that version. */
    change<T>(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object, version?: number) {
      return changed<T>(method, path, { body, headers: version === undefined ? {} : { 'if-match': `"${version}"` } })
    },

    /** A change that is made once, however often it has to be sent. */
    once: <T>(path: string, body: object) =>
      changed<T>('POST', path, { body, headers: { 'idempotency-key': randomUUID() } }),
  }

  /** The client itself retries where that is safe. A change that may be a mistake is asked about first. */
  function changed<T>(method: string, path: string, sent: Sent, isAsked = insist !== undefined): Promise<T> {
    const headers = { ...sent.headers, ...(isAsked && { prefer: 'handling=strict' }) }
    return json<T>(requestOf(method, path, { ...sent, headers })).catch(async (error) => {
      const code = error instanceof Refusal ? (error.code ?? '') : ''
      if (insist && Object.hasOwn(MEANT, code)) {
        await insist(error.message)
        const body = { ...sent.body, ...MEANT[code] }
        return changed<T>(method, path, { ...sent, body }, code !== 'needs_confirmation')
      }
      // The admin API has a code for a change that was not made.
      const isKnown = error instanceof Refusal && (error.status < 500 || error.code === 'service_unavailable')
      throw isKnown ? error : new OutcomeUnknown(error)
    })
  }

  async function json<T>(request: AdminAsk): Promise<T> {
    return JSON.parse(await textOf(await answer(request))) as T
  }

  async function answer(request: AdminAsk): Promise<Body> {
    const { body, ...head } = await client(request)
    if (head.status >= 400) throw new Refusal({ ...head, body: await textOf(body) })
    return body
  }
}

type Sent = { readonly query?: Query | undefined; readonly body?: object; readonly headers?: Record<string, string> }

function requestOf(method: string, path: string, { query = {}, body, headers }: Sent): AdminAsk {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return {
    method,
    path: `${ADMIN_ROOT}${path}`,
    query: new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])),
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    body: Buffer.from(body ? JSON.stringify(body) : ''),
  }
}

type Body = string | AsyncIterable<string>

async function textOf(body: Body): Promise<string> {
  return typeof body === 'string' ? body : (await Array.fromAsync(body)).join('')
}

async function* piecesOf(body: Body): AsyncGenerator<string> {
  if (typeof body === 'string') yield body
  else yield* body
}
