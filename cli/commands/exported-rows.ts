import { isoTime } from '../../layers/gateway/domain/basics/time.ts'
import type { Ask } from '../admin-client/ask.ts'
import { Refusal } from '../admin-client/refusal.ts'

export type ExportFormat = 'csv' | 'jsonl'

type Wanted = {
  readonly fromMs: number
  readonly toMs: number
  readonly key: string | undefined
  readonly model?: string | undefined
  readonly outcome?: string | undefined
  readonly user?: string | undefined
  readonly tag?: string | undefined
}

const TYPES: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', jsonl: 'application/x-ndjson' }
/** A range that is refused as too much for one answer is asked for in halves, as long as that may help. */
const SPLIT_ABOVE_MS: Readonly<Record<string, number>> = { answer_too_large: 1, took_too_long: 60_000 }

/** The rows of a range in pieces of text, oldest first within a key. */
export async function* exportedRows(
  admin: Ask,
  wanted: Wanted,
  format: ExportFormat,
): AsyncGenerator<string, void, undefined> {
  const { fromMs, toMs, key, ...filter } = wanted
  const query = { from: isoTime(fromMs), to: isoTime(toMs), key_id: key, ...filter }
  const pieces = await admin.text('/requests', query, TYPES[format]).catch((error) => {
    if (!isWorthSplitting(error, toMs - fromMs)) throw error
    return undefined
  })
  if (pieces) return yield* pieces
  const middleMs = fromMs + Math.floor((toMs - fromMs) / 2)
  yield* exportedRows(admin, { ...wanted, toMs: middleMs }, format)
  const rest = exportedRows(admin, { ...wanted, fromMs: middleMs }, format)
  yield* format === 'csv' ? withoutHeader(rest) : rest
}

/** A row as `usage export` writes it. */
export type Exported = Readonly<Record<string, unknown>> & {
  readonly key_id: string
  readonly started_at: string
  readonly http_status: number
}

/** The rows themselves, one by one. */
export async function* exportedLines(admin: Ask, wanted: Wanted): AsyncGenerator<Exported> {
  let rest = ''
  for await (const piece of exportedRows(admin, wanted, 'jsonl')) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as Exported
  }
}

function isWorthSplitting(error: unknown, ms: number): boolean {
  const least = error instanceof Refusal ? SPLIT_ABOVE_MS[error.code ?? ''] : undefined
  return least !== undefined && ms > least
}

/** The first half has the header. */
async function* withoutHeader(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let begun = ''
  let isBehind = false
  for await (const piece of pieces) {
    if (isBehind) {
      yield piece
      continue
    }
    begun += piece
    const end = begun.indexOf('\r\n')
    isBehind = end >= 0
    if (isBehind) yield begun.slice(end + 2)
  }
}
