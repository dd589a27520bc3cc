import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { parseSignedCredits } from '../../layers/gateway/domain/money/money.ts'
import type { Statement } from '../../layers/gateway/domain/rows/statement.ts'
import { statementPage } from '../../layers/gateway/domain/rows/statement-page.ts'
import { CliError, printJson } from '../../layers/terminal/output.ts'
import { option } from './arguments.ts'
import { pathOf } from './one-key.ts'
import type { CommandRow, Session } from './open-session.ts'
import { monthIn, monthOption } from './time-range.ts'

type Options = { readonly month: string; readonly key?: string; readonly account?: string; readonly format: string }

export const STATEMENT: CommandRow = {
  words:
    'the statement of an account, or of a key that is alone, for a closed month: balances, top-ups, corrections, usage',
  options: [
    monthOption,
    option('--account <account>', 'of this account'),
    option('--key <key>', 'of this key'),
    option('--format <format>', 'how to write it').choices(['csv', 'json', 'html']).default('csv'),
  ],
  check: ({ key, account }: Options) => {
    if ((key === undefined) === (account === undefined)) throw new CliError('Say --account ACCOUNT or --key KEY.')
  },
  async work({ admin, out, json, nowMs }: Session, { month, key, account, format }: Options): Promise<void> {
    const statement = await admin.get<Statement>(`${pathOf(account ?? key ?? '')}/statements/${monthIn(month, nowMs)}`)
    if (json || format === 'json') printJson(out, statement)
    else if (format === 'html') out.log(statementPage(statement).trimEnd())
    else for (const line of csvOf(statement)) out.log(line.trimEnd())
  },
}

/** A line for each amount: those before the closing balance add up to it. */
function* csvOf(statement: Statement): Generator<string> {
  const { month, top_ups, adoptions, corrections, usage } = statement
  const line = (kind: string, credits: string, more: object = {}) => {
    const cells: Record<string, unknown> = { month, kind, ...more, credits: parseSignedCredits(credits) }
    return csvLine(COLUMNS.map((column) => cells[column] ?? undefined))
  }
  yield csvLine(COLUMNS)
  yield line('opening', statement.opening)
  for (const one of top_ups) yield line('top-up', one.credits, one)
  for (const one of adoptions) yield line('adopted', one.credits, one)
  for (const one of corrections) yield line('correction', one.credits, one)
  for (const one of usage) yield line('usage', one.charged === '0' ? '0' : `-${one.charged}`, one)
  yield line('closing', statement.closing)
}

const COLUMNS = [
  ...['month', 'kind', 'at', 'key_id', 'key_name', 'model', 'reference'],
  ...['requests', 'prompt_tokens', 'completion_tokens', 'credits'],
]
