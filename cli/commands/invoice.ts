import { printJson } from '../../layers/terminal/output.ts'
import { gatherInvoices } from '../books/invoices.ts'
import { invoiceCsv, invoicePage, sheetsOf } from '../books/papers.ts'
import { monthOption, option } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'

type Options = {
  readonly month: string
  readonly key?: string
  readonly account?: string
  readonly format: 'csv' | 'json' | 'html'
}

export const INVOICE: CommandRow = {
  words:
    'what each customer, an account or a key, was charged in a month, by model; exits with 1 if a day is open or the books differ',
  options: [
    monthOption,
    option('--key <key>', 'of this key only'),
    option('--account <account>', 'of this account only'),
    option('--format <format>', 'how to write it').choices(['csv', 'json', 'html']).default('csv'),
  ],
  work: invoiceAction,
}

async function invoiceAction(session: Session, { month, format, ...asked }: Options): Promise<void> {
  const { out, json, fail } = session
  const invoices = await gatherInvoices(session, month, asked)
  if (json || format === 'json') printJson(out, invoices)
  else if (format === 'csv') out.log(invoiceCsv(invoices).trimEnd())
  else out.log(invoicePage(invoices, await sheetsOf(session, invoices)).trimEnd())
  for (const problem of invoices.problems) out.error(problem)
  if (invoices.problems.length > 0) fail()
}
