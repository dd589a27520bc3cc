import { randomUUID } from 'node:crypto'
import { retry } from '../../layers/gateway/retry.ts'
import { ADMIN_ROOT } from '../admin-api/route-table.ts'
import type { List } from '../admin-api/shapes.ts'
import type { AdminAsk, AdminClient } from './admin-client.ts'
import { Refusal, Unanswered, wasLost } from './refusal.ts'

/** What is not given is not asked for. */
type Query = Readonly<Record<string, string | number | undefined>>

/** The admin API as commands ask it. Paths are those of its routes, without /admin/v1. Refusals are thrown as CliErrors. */
export type Ask = {
  get<T>(path: string, query?: Query): Promise<T>
  /** A list to its end, page by page, or as much of it as is wanted. */
  list<T>(path: string, query?: Query, most?: number): Promise<List<T>>
  /** An answer of another type, in pieces as they come. */
  text(path: string, query: Query, type: string): Promise<AsyncIterable<string>>
  /** The lines of an answer in NDJSON, as they come. */
  lines<T>(path: string, body: object): AsyncGenerator<T>
  /** A check, which changes nothing. */
  check<T>(path: string, body: object): Promise<T>
  /** A change, which is not sent twice. With `seen`, it is made only to that version. */
  change<T>(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object, seen?: number): Promise<T>
  /** A change that is made once, however often it has to be asked for. */
  once<T>(path: string, body: object): Promise<T>
}

const PAGE = 100
const TRIES = 4
/** Of the admin API's refusals, those after which a change may have been made. */
const UNSURE: ReadonlySet<string> = new Set(['outcome_unknown', 'took_too_long', 'internal_error'])

/** With `here`, what takes too long elsewhere is read in this process, if the tables can be. */
export function ask(client: AdminClient, here?: AdminClient): Ask {
  return {
    get: (path, query = {}) => read(requestOf('GET', path, { query })),
    list,
    text: async (path, query, type) => piecesOf(await repeated(requestOf('GET', path, { query, accept: type }))),
    async *lines<T>(path: string, body: object) {
      let rest = ''
      for await (const piece of piecesOf(await repeated(requestOf('POST', path, { body })))) {
        const lines = (rest + piece).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) yield JSON.parse(line) as T
      }
    },
    check: (path, body) => read(requestOf('POST', path, { body })),
    change: (method, path, body, seen) => changed(requestOf(method, path, { body, seen }), wasTurnedAway),
    once: (path, body) => changed(requestOf('POST', path, { body, idempotencyKey: randomUUID() }), isWorthAnother),
  }

  async function list<T>(path: string, query: Query = {}, most = Infinity): Promise<List<T>> {
    const data: T[] = []
    let after = query.after
    for (;;) {
      const limit = Math.min(PAGE, most - data.length)
      const page: List<T> = await read(requestOf('GET', path, { query: { ...query, limit, after } }))
      data.push(...page.data)
      if (!page.has_more || data.length >= most) return { ...page, data }
      after = page.last_id ?? undefined
    }
  }

  async function read<T>(request: AdminAsk): Promise<T> {
    return jsonOf(await repeated(request))
  }

  async function repeated(request: AdminAsk): Promise<Body> {
    try {
      return await again(() => answer(request), isWorthAnother)
    } catch (error) {
      if (!here || !(error instanceof Refusal) || error.code !== 'took_too_long') throw error
      return answer(request, here).catch(() => {
        throw error
      })
    }
  }

  /** After one answer was lost, only one that says what became of the change is believed. */
  async function changed<T>(request: AdminAsk, when: (error: unknown) => boolean): Promise<T> {
    let lost: unknown
    const attempt = async (): Promise<T> => {
      try {
        return await jsonOf(await answer(request))
      } catch (error) {
        if (wasLost(error)) lost = error
        throw error
      }
    }
    try {
      return await again(attempt, when)
    } catch (error) {
      if (error instanceof Refusal && UNSURE.has(error.code ?? '')) throw new Unanswered(error)
      throw lost !== undefined && !saysMore(error) ? new Unanswered(lost) : error
    }
  }

  async function answer(request: AdminAsk, by = client): Promise<Body> {
    const { status, body } = await by(request)
    if (status >= 400) throw new Refusal(status, await textOf(body))
    return body
  }
}

type Sent = {
  readonly query?: Query
  readonly body?: object
  readonly accept?: string
  readonly seen?: number | undefined
  readonly idempotencyKey?: string
}

function requestOf(method: string, path: string, { query = {}, body, accept, seen, idempotencyKey }: Sent): AdminAsk {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return {
    method,
    path: `${ADMIN_ROOT}${path}`,
    query: new URLSearchParams(given as [string, string][]),
    headers: {
      ...(accept !== undefined && { accept }),
      ...(body && { 'content-type': 'application/json' }),
      ...(seen !== undefined && { 'if-match': `"${seen}"` }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: Buffer.from(body ? JSON.stringify(body) : ''),
  }
}

function again<T>(work: () => Promise<T>, when: (error: unknown) => boolean): Promise<T> {
  return retry(work, { when, pauseMs: (attempt) => 100 * 2 ** attempt, tries: TRIES })
}

/** More came at once than the admin API of a stage takes; nothing was done. */
function wasTurnedAway(error: unknown): boolean {
  return error instanceof Refusal && error.status === 429
}

function isWorthAnother(error: unknown): boolean {
  return wasTurnedAway(error) || wasLost(error)
}

/** A refusal that only the admin API can have written, after it looked. */
function saysMore(error: unknown): boolean {
  return error instanceof Refusal && error.isItsOwn && error.status < 500
}

type Body = string | AsyncIterable<string>

async function jsonOf<T>(body: Body): Promise<T> {
  return JSON.parse(await textOf(body)) as T
}

async function textOf(body: Body): Promise<string> {
  return typeof body === 'string' ? body : (await Array.fromAsync(body)).join('')
}

async function* piecesOf(body: Body): AsyncGenerator<string> {
  if (typeof body === 'string') yield body
  else yield* body
}
