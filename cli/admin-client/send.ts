import { AdminError } from '../../layers/admin/api/admin-error.ts'
import type { AdminAsk } from '../../layers/admin/api/call.ts'
import { ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import { escaped } from '../../layers/gateway/platform/aws/sign-request.ts'
import type { SignIn } from './sign-in.ts'

type Send = (asked: AdminAsk, nowMs: number, signal: AbortSignal) => Promise<Response>

/** The headers that the admin API reads. Others that a page sends, such as its token and its origin, are not forwarded. */
const FORWARDED = ['accept', 'content-type', 'idempotency-key', 'if-match']
const PATH = new RegExp(`^${ADMIN_ROOT}(/[\\w-]{1,100})+$`)

/** Sends a request with the proof of its caller. One that cannot be signed unchanged is refused, and not sent. */
export function send(adminUrl: string, { root, sign }: SignIn): Send {
  const { origin, host } = requireSafe(adminUrl)
  return async ({ method, path: asked, query, headers, body }, nowMs, signal) => {
    // Nothing in such a path can be spelled in two ways, so the signed path is the one that is called.
    if (!PATH.test(asked)) throw new AdminError('not_found', 'There is nothing here.')
    const path = `${root}${asked.slice(ADMIN_ROOT.length)}`
    const sent = method === 'GET' ? undefined : (body as Uint8Array<ArrayBuffer>)
    const request = {
      ...{ method, path },
      query: valuesOf(query),
      headers: { ...forwarded(headers), host },
      ...(sent && { body: sent }),
    }
    const { host: _, ...rest } = await sign(request, nowMs)
    return fetch(`${origin}${path}${searchOf(query)}`, {
      method,
      headers: rest,
      ...(sent && { body: sent }),
      // The proof of a caller is for one address.
      redirect: 'manual',
      signal,
    })
  }
}

/** A secret goes with every call, so it must not go unencrypted, except to this machine. */
function requireSafe(adminUrl: string): URL {
  const url = new URL(adminUrl)
  if (url.protocol === 'https:' || url.hostname === '127.0.0.1') return url
  throw new Error(`The address of the admin API is not one of https: ${url.origin}`)
}

function forwarded(headers: AdminAsk['headers']): Record<string, string> {
  const there = FORWARDED.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  for (const [name, value] of there) {
    if (!/^[\x20-\x7e]*$/.test(value)) throw new AdminError('invalid_request', `The header ${name} is not plain ASCII.`)
  }
  return Object.fromEntries(there)
}

function valuesOf(query: URLSearchParams): Record<string, string[]> {
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]))
}

/** As it is signed: a space is %20, where URLSearchParams has a plus. */
function searchOf(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}
