import type { Statement } from '../../layers/gateway/domain/rows/statement.ts'
import { statementPage } from '../../layers/gateway/domain/rows/statement-page.ts'
import { CliError, printJson } from '../../layers/terminal/output.ts'
import { pathOf } from '../books/ask-books.ts'
import { statementCsv } from '../books/papers.ts'
import { monthOption, option } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'

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
  async work({ admin, out, json }: Session, { month, key, account, format }: Options): Promise<void> {
    const statement = await admin.get<Statement>(`${pathOf(account ?? key ?? '')}/statements/${month}`)
    if (json || format === 'json') printJson(out, statement)
    else if (format === 'html') out.log(statementPage(statement).trimEnd())
    else out.log(statementCsv(statement).trimEnd())
  },
}
