import { InvalidArgumentError } from 'commander'
import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { option, required } from './arguments.ts'
import type { Invoices } from './invoices.ts'
import type { Session } from './open-session.ts'
import type { CommandRow } from './run.ts'

type Options = { readonly month: string; readonly key?: string; readonly format: 'csv' | 'json' | 'html' }

export const INVOICE: CommandRow = {
  words: 'what each key was charged in a month, by model; exits with 1 if a day is open or the books differ',
  options: [
    required('--month <month>', 'a UTC month such as 2026-10', readMonth),
    option('--key <key>', 'of this key only'),
    option('--format <format>', 'how to write it').choices(['csv', 'json', 'html']).default('csv'),
  ],
  work: invoiceAction,
}

function readMonth(text: string): string {
  if (/^20\d\d-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('It must be a month such as 2026-10.')
}

async function invoiceAction(session: Session, { month, key, format }: Options): Promise<void> {
  const { out, json, fail } = session
  // Loaded only now, because it brings more along than other commands need.
  const { gatherInvoices } = await import('./invoices.ts')
  const invoices = await gatherInvoices(session, month, key)
  if (json || format === 'json') printJson(out, invoices)
  else if (format === 'html') out.log((await import('./invoice-page.ts')).invoicePage(invoices).trimEnd())
  else for (const line of csvOf(invoices)) out.log(line.trimEnd())
  for (const problem of invoices.problems) out.error(problem)
  if (invoices.problems.length > 0) fail()
}

const HEADER = 'month,key_id,name,external_id,model,requests,prompt_tokens,completion_tokens,charged'

function* csvOf({ month, data }: Invoices): Generator<string> {
  yield HEADER
  for (const { key_id, name, external_id, lines } of data) {
    for (const { model, requests, prompt_tokens, completion_tokens, charged } of lines) {
      const named = [month, key_id, name ?? '', external_id ?? '', model]
      yield csvLine([...named, requests, prompt_tokens, completion_tokens, charged])
    }
  }
}
