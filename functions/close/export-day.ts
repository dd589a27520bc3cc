import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { momentsOf } from '../../layers/gateway/domain/rows/closed-day.ts'
import { type DayTotal, sumsOf } from '../../layers/gateway/domain/rows/day-total.ts'
import { byMoment, EXPORT_FOLDER, exportLine, exportPath } from '../../layers/gateway/domain/rows/export-line.ts'
import { FOCUS_FOLDER, focusLines } from '../../layers/gateway/domain/rows/focus-line.ts'
import type { PutObject } from '../../layers/gateway/platform/aws/put-object.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { type ExportCursor, noteClosing } from '../../layers/gateway/store/rows/closing.ts'
import { queryDayTotals } from '../../layers/gateway/store/rows/day-totals.ts'
import { queryUsageRows } from '../../layers/gateway/store/rows/usage-rows.ts'

/** The size of a part before it is compressed: no more of a day is in memory. */
const PART_CHARS = 32 * 1024 * 1024
export type Compress = (bytes: Buffer) => Promise<Buffer>
/** On the second core of the function, while the rows of the next part are read. */
const compressBeside: Compress = promisify(gzip)

/** Lines that become bytes together: a part of objects would cost the garbage collector more than all other work. */
const LINES_TOGETHER = 1_000

export type ExportOptions = {
  readonly partChars?: number
  readonly compress?: Compress
  /** The setting of the stage, such as `USD 2`. */
  readonly currency?: string | undefined
}

/** Writes the rows of a closed day as lines of JSON. Every run makes the same parts, so writing one again changes nothing. */
export function dayExporter(
  tables: Tables,
  putObject: PutObject,
  hasTime: () => boolean,
  { partChars = PART_CHARS, compress = compressBeside, currency }: ExportOptions = {},
) {
  const totalsOf = queryDayTotals(tables)
  const rowsOf = queryUsageRows(tables)
  const note = noteClosing(tables)

  /** True once the day is exported; false if the time was not enough: then the next run goes on from the last cursor. */
  return async (day: string, from?: ExportCursor): Promise<boolean> => {
    const parts = partsOf(EXPORT_FOLDER, day, from?.part)
    try {
      for await (const total of totalsOf(day, from?.keyId)) {
        if (!(await exportKey(total, parts, from?.keyId === total.keyId ? from : undefined))) return false
      }
      await parts.write()
    } finally {
      await parts.written
    }
    // All of them each time: a key has few.
    const charges = partsOf(FOCUS_FOLDER, day)
    for await (const total of totalsOf(day)) {
      for (const line of focusLines({ ...total, currency })) await charges.add(`${JSON.stringify(line)}\n`)
    }
    await charges.write()
    await charges.written
    return true
  }

  function partsOf(folder: string, day: string, count?: number): PartWriter {
    const put = async (part: number, bytes: Buffer) => putObject(exportPath(day, part, folder), await compress(bytes))
    return new PartWriter(put, partChars, count)
  }

  async function exportKey(total: DayTotal, parts: PartWriter, from?: ExportCursor): Promise<boolean> {
    const { keyId, day } = total
    const { fromMs, toMs } = momentsOf(day)
    let rows = from?.rows ?? 0
    // A cursor is between two milliseconds, with nothing unwritten before it: from there every run makes the same parts.
    const endPart = async (beforeMs: number) => {
      if (!parts.isHalfFull) return
      const cursor = { day, part: parts.count + 1, keyId, beforeMs, rows }
      await parts.write(() => note({ exporting: cursor }))
    }
    const moments = byMoment(rowsOf(keyId, { fromMs: from?.beforeMs ?? fromMs, toMs }, 'oldest first'))
    for await (const moment of moments) {
      if (!hasTime()) return false
      await endPart(moment.atMs)
      for (const row of moment.rows) await parts.add(exportLine(row))
      rows += moment.rows.length
    }
    const { requests } = sumsOf(total)
    if (rows !== requests) throw new Error(`${keyId} has ${rows} rows on ${day}, and ${requests} in its total.`)
    await endPart(toMs)
    return true
  }
}

class PartWriter {
  readonly #put: (part: number, bytes: Buffer) => Promise<void>
  readonly #mostChars: number
  /** The parts that are written, or on their way. */
  count: number
  /** The last of them; it waited for those before it. */
  written: Promise<void> = Promise.resolve()
  #bytes: Buffer[] = []
  #lines: string[] = []
  #chars = 0

  constructor(put: (part: number, bytes: Buffer) => Promise<void>, mostChars: number, count = 0) {
    this.#put = put
    this.#mostChars = mostChars
    this.count = count
  }

  get isHalfFull(): boolean {
    return this.#chars > this.#mostChars / 2
  }

  async add(line: string): Promise<void> {
    if (this.#chars + line.length > this.#mostChars) await this.write()
    this.#lines.push(line)
    this.#chars += line.length
    if (this.#lines.length >= LINES_TOGETHER) this.#pack()
  }

  #pack(): void {
    this.#bytes.push(Buffer.from(this.#lines.join('')))
    this.#lines = []
  }

  /** Begins to write the lines that are not written yet, when the part before is; `then` follows when they are. */
  async write(then?: () => Promise<void>): Promise<void> {
    if (this.#chars === 0) return
    this.#pack()
    await this.written
    this.written = this.#put(this.count, Buffer.concat(this.#bytes)).then(then)
    // It is awaited by the next part, or by the end.
    this.written.catch(() => {})
    this.count += 1
    this.#bytes = []
    this.#chars = 0
  }
}
