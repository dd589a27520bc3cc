import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../layers/admin/api/admin-error.ts'
import { type AdminAnswer, type AdminAsk, adminRequestId } from '../../layers/admin/api/call.ts'
import { refused } from '../../layers/admin/api/handle.ts'
import { timeLeft } from '../../layers/gateway/domain/keys/act.ts'
import { ADMIN_PATHS, ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import { escaped, signRequest } from '../../layers/gateway/platform/aws/sign-request.ts'
import type { Credentials } from '../../layers/gateway/platform/config.ts'
import { noAnswer, readAnswer, unsigned } from './read-answer.ts'

/** Asks the admin API of one gateway, local or remote: returns every answer, refusals too, and never throws. */
export type AdminClient = (asked: AdminAsk) => Promise<AdminAnswer>

/** API Gateway's timeout. A call is retried only if so much time is left. */
const ANSWER_MS = 30_000
/** Routes that an Idempotency-Key makes safe to retry. Others do not read it. */
const ONCE = new RegExp(`^${ADMIN_ROOT}/((admin-)?keys|accounts)(/[\\w-]+/(rotate|grants))?$`)
const UNKNOWN = /"code":"(outcome_unknown|took_too_long)"/
/** Nothing in such a path can be spelled in two ways, so the signed path is the one that is called. */
const PATH = new RegExp(`^${ADMIN_ROOT}(/[\\w-]{1,100})+$`)
/** The headers that the admin API reads. Others that a page sends, such as its token and its origin, are not forwarded. */
const FORWARDED = ['accept', 'content-type', 'idempotency-key', 'if-match', 'prefer']

export function adminClient(
  { adminUrl, signIn }: { readonly adminUrl: string; readonly signIn: SignIn },
  /** `callMs` is for all tries of one call, with their pauses and bodies. */
  { clock = Date.now, callMs = ANSWER_MS + 10_000 }: { readonly clock?: () => number; readonly callMs?: number } = {},
): AdminClient {
  const { origin, host, protocol, hostname } = new URL(adminUrl)
  // A secret goes with every call, so it must not go unencrypted, except to this machine.
  if (protocol !== 'https:' && hostname !== '127.0.0.1') {
    throw new Error(`The address of the admin API is not one of https: ${origin}`)
  }

  return async (asked) => {
    const { method, path, headers } = asked
    const mayBeAskedAgain = method === 'GET' || (ONCE.test(path) && headers['idempotency-key'] !== undefined)
    const leftMs = timeLeft(callMs, clock)
    let unknown: AdminAnswer | undefined
    for (let attempt = 1; ; attempt++) {
      const answer = await answered(asked, leftMs())
      if (![500, 503, 504].includes(answer.status)) return answer
      if (typeof answer.body === 'string' && UNKNOWN.test(answer.body)) unknown ??= answer
      const pauseMs = 100 * 2 ** attempt * (0.5 + Math.random() / 2)
      // After a try of unknown outcome, a failure of the next one tells nothing about it.
      if (!mayBeAskedAgain || leftMs() - pauseMs < ANSWER_MS) return unknown ?? answer
      await sleep(pauseMs)
    }
  }

  async function answered(asked: AdminAsk, leftMs: number): Promise<AdminAnswer> {
    try {
      return await readAnswer(await send(asked, AbortSignal.timeout(Math.max(0, leftMs))), asked, clock())
    } catch (error) {
      const refusal = error instanceof AdminError ? error : noAnswer(host, error as Error, asked)
      return refused(adminRequestId(clock()), refusal)
    }
  }

  /** Sends a request with the proof of its caller. One that cannot be signed unchanged is refused, and not sent. */
  async function send({ method, path: asked, query, headers, body }: AdminAsk, signal: AbortSignal): Promise<Response> {
    if (!PATH.test(asked)) throw new AdminError('not_found', 'There is nothing here.')
    const path = `${signIn.root}${asked.slice(ADMIN_ROOT.length)}`
    const sent = method === 'GET' ? {} : { body: body as Uint8Array<ArrayBuffer> }
    const values = Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]))
    const request = { method, path, query: values, headers: { ...forwarded(headers), host }, ...sent }
    const { host: _, ...signed } = await signIn.sign(request, clock())
    // A space is signed as %20, where URLSearchParams has a plus.
    const pairs = [...query].map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    const search = pairs.length === 0 ? '' : `?${pairs.join('&')}`
    // The proof of a caller is for one address.
    return fetch(`${origin}${path}${search}`, { method, headers: signed, ...sent, redirect: 'manual', signal })
  }
}

function forwarded(headers: AdminAsk['headers']): Record<string, string> {
  const there = Object.entries(headers).filter(([name, value]) => FORWARDED.includes(name) && value !== undefined)
  for (const [name, value = ''] of there) {
    if (!/^[\x20-\x7e]*$/.test(value)) throw new AdminError('invalid_request', `The header ${name} is not plain ASCII.`)
  }
  return Object.fromEntries(there) as Record<string, string>
}

/** The way in which a caller tells the admin API who it is: a signature of AWS, an admin key, or a local token. */
export type SignIn = {
  readonly root: string
  /** The headers of the request, with the proof of the caller. */
  readonly sign: (
    request: Parameters<typeof signRequest>[1],
    nowMs: number,
    /** Only a signature of AWS is for other services, too. */
    service?: 'monitoring',
  ) => Promise<Readonly<Record<string, string>>>
}

export type Signing = { readonly credentials: Found<Credentials>; readonly region: Found<string> }
type Found<T> = T | (() => Promise<T>)

const found = async <T>(value: Found<T>): Promise<T> => (value instanceof Function ? value() : value)

export function byAws({ credentials, region }: Signing): SignIn {
  return {
    root: ADMIN_PATHS.signed,
    async sign(request, nowMs, service) {
      const [by, at] = await Promise.all([found(credentials), found(region)]).catch((cause) => {
        throw unsigned(cause)
      })
      return signRequest({ service: service ?? 'execute-api', region: at, credentials: by, nowMs }, request)
    },
  }
}

/** An admin key, or the token of a local gateway, which is for the owner of its folder only. */
export function bySecret(secret: string, path: keyof typeof ADMIN_PATHS): SignIn {
  return { root: ADMIN_PATHS[path], sign: async ({ headers }) => ({ ...headers, authorization: `Bearer ${secret}` }) }
}
