import type { List } from '../../layers/admin/api/shapes/answers.ts'
import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { momentsOf } from '../../layers/gateway/domain/rows/closed-day.ts'
import { FOCUS_COLUMNS, type FocusLine } from '../../layers/gateway/domain/rows/focus-line.ts'
import { option } from './arguments.ts'
import type { ExportFormat } from './exported-rows.ts'
import type { CommandRow, Session } from './open-session.ts'
import { type Range, type RangeOptions, rangeOf, rangeOptions, rangeQuery } from './time-range.ts'
import { printPieces } from './usage.ts'

export const EXPORT: CommandRow = {
  words: 'what was charged, in formats of others',
  commands: {
    focus: {
      words: 'FOCUS 1.4: a line for each closed UTC day, key, model and kind of price; together they are the invoices',
      options: [
        ...rangeOptions(true),
        option('--format <format>', 'how to write it').choices(['csv', 'jsonl']).default('csv'),
      ],
      work: focusAction,
    },
  },
}

async function focusAction(session: Session, options: RangeOptions & { format: ExportFormat }): Promise<void> {
  const { json, nowMs } = session
  const format = json ? 'jsonl' : options.format
  const { fromMs, toMs = momentsOf(utcDay(nowMs)).fromMs } = rangeOf(options, nowMs)
  await printPieces(session, 'export focus', focusText(session, { fromMs, toMs }, format))
}

async function* focusText({ admin }: Session, range: Range, format: ExportFormat): AsyncGenerator<string> {
  const textOf = (line: FocusLine) =>
    format === 'csv' ? csvLine(FOCUS_COLUMNS.map((name) => line[name] ?? undefined)) : `${JSON.stringify(line)}\n`
  for (let after: string | null | undefined, isFirst = true; after !== null; isFirst = false) {
    const query = { ...rangeQuery(range), limit: 100, after }
    const page: List<FocusLine> = await admin.get('/focus', query)
    const header = isFirst && format === 'csv' ? csvLine(FOCUS_COLUMNS) : ''
    yield header + page.data.map(textOf).join('')
    after = page.has_more ? page.last_id : null
  }
}
