import { AdminError } from '../../layers/admin/api/admin-error.ts'
import type { AdminAnswer, AdminAsk } from '../../layers/admin/api/call.ts'
import { parseJson } from '../../layers/gateway/domain/basics/json-object.ts'
import { ADMIN_READING_POSTS, ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import { OUTPUTS } from '../../layers/gateway/names.ts'
import { isObject } from '../../layers/gateway/wire/basics/field-rules.ts'
import { documentOf, START } from '../../layers/terminal/how-to-run.ts'

/** Under the names that the admin API itself gives them. */
const KEPT = ['Content-Type', 'Content-Disposition', 'Cache-Control', 'ETag', 'X-Request-Id', 'Allow', 'Retry-After']

/** The admin API's own answer, unchanged. Answers of others are thrown as errors. */
export async function readAnswer(response: Response, asked: AdminAsk, nowMs: number): Promise<AdminAnswer> {
  const { status } = response
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
  if (status === 200 && ['application/x-ndjson', 'text/csv'].includes(type))
    return { status, headers: keptOf(response), body: piecesOf(response, asked) }
  if (type !== 'application/json') {
    await response.body?.cancel()
    throw unreadable(response, asked)
  }
  const text = (await Array.fromAsync(piecesOf(response, asked))).join('')
  const told = parseJson(text)
  if (!isObject(told) || (status >= 300 && status < 400)) throw unreadable(response, asked)
  // Only the admin API sends an `error`; the services in front of it send a `message`.
  const isOurs = isObject(told.error) && 'message' in told.error
  if (status >= 400 && !isOurs) throw gatewayRefusal(response, String(told.message), asked, nowMs)
  return { status, headers: keptOf(response), body: text }
}

function keptOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries(KEPT.filter((name) => headers.has(name)).map((name) => [name, headers.get(name) ?? '']))
}

async function* piecesOf(response: Response, asked: AdminAsk): AsyncGenerator<string, void, undefined> {
  let chars = 0
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    chars += piece.length
    // More than API Gateway returns.
    if (chars > 16 * 1024 * 1024) throw unreadable(response, asked)
    yield piece
  }
}

const WITHOUT_IT = `To end a key without it, see "If the admin API cannot answer" in ${documentOf('operate.md')}.`

/** An error of API Gateway itself: it has a status and a message, which is not passed on. */
function gatewayRefusal({ status, headers }: Response, told: string, asked: AdminAsk, nowMs: number): AdminError {
  if (status === 403 || status === 401) return accessDenied(headers, told, asked, nowMs)
  if (status === 429)
    return new AdminError(
      'service_unavailable',
      'More calls come to the admin API than it takes from all callers together. Ask again.',
    )
  if (status === 413) return new AdminError('request_too_large', 'The body is longer than API Gateway takes.')
  return unavailable(`The admin API failed, or took too long: API Gateway answered ${status}.`, asked)
}

/** Neither the admin API nor API Gateway answered: a proxy, a sign-in page, or a name that resolves elsewhere. */
function unreadable({ status, url }: Response, asked: AdminAsk): AdminError {
  const { host } = new URL(url)
  return unavailable(`${host} answered ${status} with what is no answer of the admin API, and it was not read.`, asked)
}

/** No answer came, or an incomplete one. */
export function noAnswer(host: string, error: Error, asked: AdminAsk): AdminError {
  const { code = error.name } = (error.cause ?? {}) as { code?: string }
  const remedy = host.startsWith('127.0.0.1:') ? `Is the gateway running? '${START}' starts it.` : WITHOUT_IT
  return unavailable(`The admin API at ${host} did not answer (${code}).`, asked, remedy)
}

/** The credentials could not be found, or renewed. The provider's message may contain a secret, so it is not passed on. */
export function unsigned(cause: unknown): AdminError {
  return new AdminError(
    'access_denied',
    'There are no AWS credentials to sign with, or they cannot be renewed. Sign in again, and start this again.',
    {},
    { cause },
  )
}

function unavailable(what: string, asked: AdminAsk, remedy = WITHOUT_IT): AdminError {
  if (onlyLooks(asked)) return new AdminError('service_unavailable', `${what} ${remedy}`)
  const outcomeUnknown = 'The change may have been made all the same: look before you go on.'
  return new AdminError('outcome_unknown', `${what} ${outcomeUnknown} ${remedy}`)
}

/** An HTTP API answers just `Forbidden`, for any reason. */
function accessDenied(headers: Headers, message: string, asked: AdminAsk, nowMs: number): AdminError {
  const offMs = Math.abs(Date.parse(headers.get('date') ?? '') - nowMs)
  // AWS accepts signatures of the last five minutes, and the date of an answer has seconds only.
  if (offMs >= 4 * 60_000) {
    const minutes = Math.round(offMs / 60_000)
    return denied(`The clock of this machine is ${minutes} minutes off, and AWS takes signatures of five. Set it.`)
  }
  if (/expired/i.test(message)) return denied('Your AWS credentials have expired. Sign in again, and start this again.')
  const { readerPolicy, operatorPolicy } = OUTPUTS
  const needed = onlyLooks(asked) ? `${readerPolicy} or ${operatorPolicy}` : operatorPolicy
  return denied(
    `You need the policy in the stack’s output ${needed}. If you have it, your credentials may have expired: sign in again, and start this again.`,
  )
}

function onlyLooks({ method, path }: AdminAsk): boolean {
  return method === 'GET' || ADMIN_READING_POSTS.includes(path.slice(ADMIN_ROOT.length))
}

function denied(why: string): AdminError {
  return new AdminError('access_denied', `AWS refused this call to the admin API, and nothing was done. ${why}`)
}
