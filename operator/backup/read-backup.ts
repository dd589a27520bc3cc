import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { CliError } from '../terminal/cli-error.ts'
import { fromJson, type RawItem } from './item-text.ts'
import { type Counts, FORMAT, KEPT, type Kept } from './write-backup.ts'

type Entry = { readonly table: Kept; readonly item: RawItem }
type Line = { table?: Kept; item?: Record<string, unknown>; end?: Counts; waybillBackup?: number }

/** Reads the whole file before anything is written: a torn or foreign one must not be half restored. */
export async function checkBackup(file: string): Promise<Counts> {
  const counts: Counts = { keys: 0, usage: 0 }
  for await (const { table } of readBackup(file)) counts[table] += 1
  return counts
}

export async function* readBackup(file: string): AsyncGenerator<Entry> {
  const counts: Counts = { keys: 0, usage: 0 }
  let number = 0
  let isWhole = false
  for await (const text of linesOf(file)) {
    number += 1
    const { table, item, end, waybillBackup } = parse(file, number, text)
    if (number === 1 && waybillBackup !== FORMAT) throw new CliError(`${file} is not a backup of this version.`)
    if (isWhole) throw new CliError(`${file} goes on after its end, at line ${number}.`)
    if (end) isWhole = KEPT.every((name) => end[name] === counts[name])
    if (!table || !item) continue
    counts[table] += 1
    yield { table, item: fromJson(item) }
  }
  if (!isWhole) throw new CliError(`${file} is not whole: its last line, which counts the others, is missing or wrong.`)
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const input = createReadStream(file)
  // A file that cannot be opened would otherwise end the process.
  const failure = new Promise<never>((_, reject) => input.once('error', reject))
  failure.catch(() => {})
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await Promise.race([lines.next(), failure])
      if (next.done) return
      yield next.value
    }
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(`${file} cannot be read: ${(error as Error).message}`)
  } finally {
    input.destroy()
  }
}

function parse(file: string, number: number, text: string): Line {
  try {
    const line = JSON.parse(text) as Line
    if (line.table === undefined || KEPT.includes(line.table)) return line
  } catch {}
  throw new CliError(`Line ${number} of ${file} is not of a backup.`)
}
