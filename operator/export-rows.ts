import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { UsageRow } from '../layers/gateway/domain/usage-row.ts'
import { toUsageItem } from '../layers/gateway/store/usage/usage-item.ts'
import { jsonLine } from './output.ts'
import { CSV_HEADER, toCsvLine } from './usage-csv.ts'

export type ExportFormat = 'csv' | 'jsonl'

/** Writes rows as they come, no faster than they are read. A reader that has seen enough, such as `head`, ends it. */
export async function exportRows(rows: AsyncIterable<UsageRow>, format: ExportFormat, out: Writable): Promise<void> {
  const lines = format === 'csv' ? csvLines(rows) : jsonLines(rows)
  try {
    await pipeline(Readable.from(lines), out, { end: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

export async function* csvLines(rows: AsyncIterable<UsageRow>): AsyncGenerator<string> {
  yield CSV_HEADER
  for await (const row of rows) yield toCsvLine(row)
}

async function* jsonLines(rows: AsyncIterable<UsageRow>): AsyncGenerator<string> {
  for await (const row of rows) yield `${jsonLine(toUsageItem(row))}\n`
}
