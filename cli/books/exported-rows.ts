import { isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { USAGE_FIELD_NAMES, USAGE_FIELDS, type UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { type AskBooks, jsonLines } from './ask-books.ts'

export type ExportFormat = 'csv' | 'jsonl'

type Wanted = { readonly fromMs: number; readonly toMs: number } & {
  readonly [Name in 'key_id' | 'account' | 'model' | 'outcome' | 'status' | 'user' | 'tag' | 'with_cost']?:
    | string
    | undefined
}

const TYPES: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', jsonl: 'application/x-ndjson' }
/** A range that is refused as too much for one answer is asked for in halves, as long as that may help. */
const SPLIT_ABOVE_MS: Readonly<Record<string, number>> = { answer_too_large: 1, took_too_long: 60_000 }

/** The rows of a range in pieces of text, oldest first within a key. */
export async function* exportedText(
  admin: AskBooks['admin'],
  wanted: Wanted,
  format: ExportFormat,
): AsyncGenerator<string> {
  const { fromMs, toMs, ...filter } = wanted
  const query = { from: isoTime(fromMs), to: isoTime(toMs), calls: 'all', ...filter }
  const pieces = await admin.text('/requests', query, TYPES[format]).catch((error) => {
    const leastMs = SPLIT_ABOVE_MS[error.code ?? '']
    if (leastMs === undefined || toMs - fromMs <= leastMs) throw error
  })
  if (pieces) return yield* pieces
  const middleMs = fromMs + Math.floor((toMs - fromMs) / 2)
  yield* exportedText(admin, { ...wanted, toMs: middleMs }, format)
  const rest = exportedText(admin, { ...wanted, fromMs: middleMs }, format)
  yield* format === 'csv' ? withoutHeader(rest) : rest
}

/** The rows themselves, one by one. Their number is shown with the name of the command, while they come. */
export async function* exportedRows(session: AskBooks, command: string, wanted: Wanted): AsyncGenerator<UsageRow> {
  const { admin, progress } = session
  let count = 0
  for await (const line of jsonLines<Exported>(exportedText(admin, wanted, 'jsonl'))) {
    if (++count % 100 === 0) progress.say(`${command}: ${count} rows`)
    yield rowOf(line)
  }
}

const READ: Readonly<Record<string, (value: unknown) => unknown>> = {
  credits: (value) => parseCredits(String(value)),
  moment: (value) => Date.parse(String(value)),
  // It is exported in another form than the row has.
  price: () => undefined,
}

type Exported = Readonly<Record<string, unknown>>

function rowOf(exported: Exported): UsageRow {
  const fields = USAGE_FIELD_NAMES.map((name) => {
    const { api, kind } = USAGE_FIELDS[name]
    const value = exported[api] ?? undefined
    const read = READ[kind]
    return [name, read && value !== undefined ? read(value) : value]
  })
  return Object.fromEntries(fields) as UsageRow
}

/** The first half has the header. */
async function* withoutHeader(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let begun = ''
  for await (const piece of pieces) {
    if (begun.includes('\r\n')) yield piece
    else {
      begun += piece
      yield begun.split(/\r\n(.*)/s)[1] ?? ''
    }
  }
}
