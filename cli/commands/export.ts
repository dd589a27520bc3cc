import type { List } from '../../layers/admin/api/shapes/answers.ts'
import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { FocusLine } from '../../layers/gateway/domain/rows/focus-line.ts'
import { option } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'
import { type RangeOptions, rangeOf, rangeOptions, rangeQuery } from './time-range.ts'

export const EXPORT: CommandRow = {
  words: 'what was charged, in formats of others',
  commands: {
    focus: {
      words: 'FOCUS 1.4: a line for each closed UTC day, key, model and kind of price; together they are the invoices',
      options: [
        ...rangeOptions(true),
        option('--format <format>', 'its form').choices(['csv', 'jsonl']).default('csv'),
      ],
      work: focusAction,
    },
  },
}

async function focusAction({ admin, out, json, nowMs }: Session, options: RangeOptions & { format: string }) {
  const { fromMs, toMs = nowMs - (nowMs % DAY_MS) } = rangeOf(options, nowMs)
  const isCsv = !json && options.format === 'csv'
  for (let after: string | null | undefined; after !== null; ) {
    const page: List<FocusLine> = await admin.get('/focus', { ...rangeQuery({ fromMs, toMs }), limit: 100, after })
    const [first] = page.data
    if (isCsv && first && after === undefined) out.log(csvLine(Object.keys(first)).trimEnd())
    for (const line of page.data) {
      out.log(isCsv ? csvLine(Object.values(line).map((value) => value ?? undefined)).trimEnd() : JSON.stringify(line))
    }
    after = page.has_more ? page.last_id : null
  }
}
