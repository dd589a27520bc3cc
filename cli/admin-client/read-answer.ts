import type { AdminAnswer, AdminAsk } from '../../layers/admin/api/call.ts'
import { parseJson } from '../../layers/gateway/domain/basics/json-object.ts'
import { isObject } from '../../layers/gateway/wire/basics/field-rules.ts'
import { gatewayRefusal, unreadable } from './gateway-refusal.ts'

/** Under the names that the admin API itself gives them. */
const KEPT = ['Content-Type', 'Content-Disposition', 'Cache-Control', 'ETag', 'X-Request-Id', 'Allow', 'Retry-After']
const IN_PIECES = new Set(['application/x-ndjson', 'text/csv'])
/** More than API Gateway returns. */
const MOST_CHARS = 16 * 1024 * 1024

/** The admin API's own answer, unchanged. Answers of others are thrown as errors. */
export async function readAnswer(response: Response, asked: AdminAsk, nowMs: number): Promise<AdminAnswer> {
  const { status } = response
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
  if (status === 200 && IN_PIECES.has(type))
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
  if (status >= 400 && !isOurs) throw gatewayRefusal(response, told, asked, nowMs)
  return { status, headers: keptOf(response), body: text }
}

function keptOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries(
    KEPT.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}

async function* piecesOf(response: Response, asked: AdminAsk): AsyncGenerator<string, void, undefined> {
  let chars = 0
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    chars += piece.length
    if (chars > MOST_CHARS) throw unreadable(response, asked)
    yield piece
  }
}
