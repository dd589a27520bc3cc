import type { AdminAnswer } from '../../layers/admin/api/call.ts'
import type { AdminAsk } from './admin-client.ts'
import { gatewayRefusal, unreadable } from './gateway-refusal.ts'

/** Under the names that the admin API itself gives them. */
const KEPT = ['Content-Type', 'Content-Disposition', 'Cache-Control', 'ETag', 'X-Request-Id', 'Allow', 'Retry-After']
const IN_PIECES = new Set(['application/x-ndjson', 'text/csv'])
/** More than API Gateway returns. */
const MOST_BYTES = 16 * 1024 * 1024

/** The admin API's own answer, unchanged. Answers of others are thrown as errors. */
export async function readAnswer(response: Response, asked: AdminAsk, nowMs: number): Promise<AdminAnswer> {
  const { status } = response
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
  if (status === 200 && IN_PIECES.has(type)) return { status, headers: keptOf(response), body: piecesOf(response) }
  if (type !== 'application/json') {
    await response.body?.cancel()
    throw unreadable(response, asked)
  }
  const text = await wholeText(response)
  if (text === undefined) throw unreadable(response, asked)
  const told = objectIn(text)
  if (!told || (status >= 300 && status < 400)) throw unreadable(response, asked)
  if (status >= 400 && !isEnvelope(told)) throw gatewayRefusal(response, told, asked, nowMs)
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

async function wholeText(response: Response): Promise<string | undefined> {
  let text = ''
  try {
    for await (const piece of piecesOf(response)) text += piece
  } catch (error) {
    if (error instanceof TooLong) return undefined
    throw error
  }
  return text
}

class TooLong extends Error {}

async function* piecesOf({ body }: Response): AsyncGenerator<string, void, undefined> {
  if (!body) return
  const decoder = new TextDecoder()
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > MOST_BYTES) throw new TooLong('The answer is longer than any that the admin API gives.')
    const text = decoder.decode(piece, { stream: true })
    if (text) yield text
  }
  const rest = decoder.decode()
  if (rest) yield rest
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  return undefined
}

/** Only the admin API sends an `error`; the services in front of it send a `message`. */
function isEnvelope({ error }: Readonly<Record<string, unknown>>): boolean {
  return typeof error === 'object' && error !== null && 'message' in error
}
