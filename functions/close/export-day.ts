import { gzipSync } from 'node:zlib'
import type { PutObject } from '../../layers/gateway/aws/put-object.ts'
import { momentsOf } from '../../layers/gateway/domain/closed-day.ts'
import { sumsOf } from '../../layers/gateway/domain/day-total.ts'
import { exportLine, exportPath, inOneOrder } from '../../layers/gateway/domain/export-line.ts'
import type { Tables } from '../../layers/gateway/store/tables.ts'
import { type ExportCursor, noteClosing } from '../../layers/gateway/store/usage/closing.ts'
import { queryDayTotals } from '../../layers/gateway/store/usage/day-totals.ts'
import { queryUsageRows } from '../../layers/gateway/store/usage/usage-rows.ts'

/** True once the day is exported; false if the time was not enough: then the next run goes on after the last exported key. */
type ExportDay = (day: string, from?: ExportCursor) => Promise<boolean>

/** The size of a part before it is compressed: no more of a day is in memory. */
const PART_CHARS = 8 * 1024 * 1024

/** Writes the rows of a closed day as lines of JSON. Every run makes the same parts, so writing one again changes nothing. */
export function dayExporter(
  tables: Tables,
  putObject: PutObject,
  hasTime: () => boolean,
  partChars = PART_CHARS,
): ExportDay {
  const totalsOf = queryDayTotals(tables)
  const rowsOf = queryUsageRows(tables)
  const note = noteClosing(tables)

  return async (day, from) => {
    let part = from?.part ?? 0
    let lines: string[] = []
    let chars = 0
    const write = async () => {
      await putObject(exportPath(day, part), gzipSync(lines.join('')))
      part += 1
      lines = []
      chars = 0
    }
    for await (const total of totalsOf(day, from?.afterKeyId)) {
      let rows = 0
      for await (const row of inOneOrder(rowsOf(total.keyId, momentsOf(day), 'oldest first'))) {
        if (!hasTime()) return false
        const line = exportLine(row)
        if (chars + line.length > partChars && lines.length > 0) await write()
        lines.push(line)
        chars += line.length
        rows += 1
      }
      const { requests } = sumsOf(total)
      if (rows !== requests) {
        throw new Error(`${total.keyId} has ${rows} rows on ${day}, and ${requests} in its total.`)
      }
      // The cursor from which the rest can be written without the part before it.
      if (chars > partChars / 2) {
        await write()
        await note({ exporting: { day, part, afterKeyId: total.keyId } })
      }
    }
    if (lines.length > 0) await write()
    return true
  }
}
