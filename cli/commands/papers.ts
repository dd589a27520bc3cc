import type { Option } from 'commander'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { FOCUS_COLUMNS, type FocusLine } from '../../layers/gateway/domain/rows/focus-line.ts'
import { CliError, printJson } from '../../layers/terminal/output.ts'
import { PAPERS, paperPage } from '../books/papers.ts'
import { option } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'
import { DAY_OPTIONS, daysOf, monthIn, monthOption, type RangeOptions, rangeQuery } from './time-range.ts'

type Options = { readonly month: string; readonly key?: string; readonly account?: string } & {
  readonly format: string
  readonly all?: boolean
}

export const INVOICE: CommandRow = {
  words:
    'what each customer, an account or a key, was charged in a month, by model; exits with 1 if a day is open or the books differ',
  ...formsOf('invoices', option('--all', 'also models whose requests were all refused')),
}

export const STATEMENT: CommandRow = {
  words:
    'the statement of an account, or of a key that is alone, for a closed month: balances, top-ups, corrections, usage',
  ...formsOf('statements'),
  check: ({ key, account }: Options) => {
    if ((key === undefined) === (account === undefined)) throw new CliError('Say --account ACCOUNT or --key KEY.')
  },
}

function formsOf(kind: keyof typeof PAPERS, ...more: Option[]) {
  return {
    options: [
      monthOption,
      option('--account <account>', 'of this account only').conflicts('key'),
      option('--key <key>', 'of this key only'),
      option('--format <format>', 'how to write it').choices(['csv', 'json', 'html']).default('csv'),
      ...more,
    ],
    async work(session: Session, { format, month: given, ...asked }: Options): Promise<void> {
      const { out, json, fail, nowMs } = session
      const month = monthIn(given, nowMs) ?? given
      const { answer, problems, csv, sheets } = await PAPERS[kind](session, { month, ...asked })
      if (json || format === 'json') printJson(out, answer)
      else out.log((format === 'csv' ? csv() : paperPage(month, problems, await sheets())).trimEnd())
      for (const problem of problems) out.error(problem)
      if (problems.length > 0) fail()
    },
  }
}

export const EXPORT: CommandRow = {
  words: 'what was charged, in formats of others',
  commands: {
    focus: {
      words: 'FOCUS 1.4: a line for each closed UTC day, key, model and kind of price; together they are the invoices',
      options: [...DAY_OPTIONS, option('--format <format>', 'its form').choices(['csv', 'jsonl']).default('csv')],
      work: focusAction,
    },
  },
}

async function focusAction({ admin, out, json, nowMs }: Session, options: RangeOptions & { format: string }) {
  const range = rangeQuery(daysOf(options, nowMs))
  const isCsv = !json && options.format === 'csv'
  for (let after: string | null | undefined; after !== null; ) {
    const page: List<FocusLine> = await admin.get('/focus', { ...range, limit: 100, after })
    if (isCsv && after === undefined) out.log(csvLine(FOCUS_COLUMNS).trimEnd())
    for (const line of page.data) {
      out.log(isCsv ? csvLine(Object.values(line).map((value) => value ?? undefined)).trimEnd() : JSON.stringify(line))
    }
    after = page.has_more ? page.last_id : null
  }
}
