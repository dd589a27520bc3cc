import { AdminError } from '../../layers/admin/api/admin-error.ts'
import {
  type AdminAnswer,
  type Administered,
  type AdminRequest,
  adminRequestId,
  type Identity,
} from '../../layers/admin/api/call.ts'
import { adminApi, refusalFor, refused } from '../../layers/admin/api/handle.ts'
import { ADMIN_PATHS, ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import type { AdminSettings } from '../../layers/gateway/platform/config.ts'
import type { Log } from '../../layers/gateway/platform/log/log.ts'
import { waitAtMost } from '../../layers/gateway/platform/retry.ts'
import { type AdminEvent, keyedCaller } from './identify.ts'

type AdminDeps = Pick<Administered, 'tables' | 'stage' | 'apiKeys' | 'echoUrl' | 'clock' | 'actMs' | 'renewCatalog'> & {
  readonly settings: AdminSettings
  /** The caller on the path that is not for admin keys. Throws an AdminError. */
  readonly identify: (event: AdminEvent) => Identity
  readonly log: Log
}

/** Lambda returns 6 MB at most, in an envelope in which each quotation mark takes two bytes. */
const MOST_BYTES = 6_000_000
/** The most of an export, whose envelope is not made with every piece. */
const MOST_CHARS = 2_500_000
const TOO_LONG = 'The answer is too long for here. Ask for less, such as a shorter period.'
/** Kept back from the function's timeout, to answer that the time is over. */
const RESERVE_MS = 2_000

export function createAdmin({ settings, log, identify, ...administered }: AdminDeps) {
  const { tables, clock } = administered
  const { baseUrl, takesKeys, ...ofStage } = settings
  const report = (requestId: string, error: unknown) => log.problem('the admin API failed', error, requestId)
  const api = adminApi({ ...administered, ...ofStage, chatUrl: baseUrl.replace(/\/v1$/, ''), takesKeys }, report)
  const byKey = keyedCaller(tables)

  return async (event: AdminEvent, context?: { getRemainingTimeInMillis(): number }) => {
    const ms = (context?.getRemainingTimeInMillis() ?? Infinity) - RESERVE_MS
    const answer = await inTime(answerTo(event), Math.min(ms, 2 ** 31 - 1)).catch(failed)
    const headers: AdminAnswer['headers'] = { ...answer.headers, 'X-Content-Type-Options': 'nosniff' }
    return { statusCode: answer.status, headers, body: answer.body }
  }

  async function answerTo(event: AdminEvent): Promise<AdminAnswer & { readonly body: string }> {
    const answer = await api(await requestOf(event))
    return { ...answer, body: await wholeBody(answer) }
  }

  async function requestOf(event: AdminEvent): Promise<AdminRequest> {
    const { rawPath, rawQueryString = '', headers, body = '', isBase64Encoded, requestContext } = event
    // A caller on the path for keys needs a key, even if AWS knows it.
    const isKeyed = takesKeys && rawPath.startsWith(`${ADMIN_PATHS.keyed}/`)
    const identity = isKeyed ? await byKey(event, clock()) : identify(event)
    const root = isKeyed ? ADMIN_PATHS.keyed : ADMIN_PATHS.signed
    return {
      method: requestContext.http.method,
      path: rawPath.startsWith(`${root}/`) ? `${ADMIN_ROOT}${rawPath.slice(root.length)}` : rawPath,
      query: new URLSearchParams(rawQueryString),
      headers,
      body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
      identity,
    }
  }

  function failed(error: unknown): AdminAnswer & { readonly body: string } {
    const requestId = adminRequestId(clock())
    const refusal = refusalFor(error)
    if (refusal.status === 401) log.invalidKey()
    if (refusal.status === 500) report(requestId, error)
    return refused(requestId, refusal)
  }
}

export async function wholeBody({ body }: AdminAnswer): Promise<string> {
  let whole = typeof body === 'string' ? body : ''
  if (typeof body !== 'string') {
    for await (const piece of body) {
      whole += piece
      if (whole.length > MOST_CHARS) throw new AdminError('answer_too_large', TOO_LONG)
    }
  }
  if (Buffer.byteLength(JSON.stringify(whole)) > MOST_BYTES) throw new AdminError('answer_too_large', TOO_LONG)
  return whole
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const done: T[] = []
  const noting = work.then((value) => done.push(value))
  await waitAtMost(noting, ms)
  if (done.length > 0) return done[0] as T
  throw new AdminError(
    'took_too_long',
    'This took longer than it may here. A change may have been made all the same. Look, or ask again with the same Idempotency-Key. If you only looked, ask for less.',
  )
}
