import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { escaped, paper, tableRow } from '../../layers/gateway/domain/basics/paper.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { option } from './arguments.ts'
import { gatherInvoices, type Invoice, type InvoiceLine, type Invoices, type InvoiceTotal } from './invoices.ts'
import type { CommandRow, Session } from './open-session.ts'
import { monthIn, monthOption } from './time-range.ts'

type Options = {
  readonly month: string
  readonly key?: string
  readonly account?: string
  readonly all?: boolean
  readonly format: 'csv' | 'json' | 'html'
}

export const INVOICE: CommandRow = {
  words:
    'what each customer, an account or a key, was charged in a month, by model; exits with 1 if a day is open or the books differ',
  options: [
    monthOption,
    option('--key <key>', 'of this key only'),
    option('--account <account>', 'of this account only'),
    option('--all', 'also models whose requests were all refused'),
    option('--format <format>', 'how to write it').choices(['csv', 'json', 'html']).default('csv'),
  ],
  work: invoiceAction,
}

async function invoiceAction(session: Session, { month, format, ...asked }: Options): Promise<void> {
  const { out, json, fail } = session
  const invoices = await gatherInvoices(session, monthIn(month, session.nowMs) ?? month, asked)
  if (json || format === 'json') printJson(out, invoices)
  else if (format === 'html') out.log(invoicePage(invoices).trimEnd())
  else for (const line of csvOf(invoices)) out.log(line.trimEnd())
  for (const problem of invoices.problems) out.error(problem)
  if (invoices.problems.length > 0) fail()
}

const HEADER =
  'month,key_id,name,external_id,model,requests,prompt_tokens,completion_tokens,charged,account_id,key_name'

function* csvOf({ month, data }: Invoices): Generator<string> {
  yield HEADER
  for (const { account_id, name, external_id, lines, ...one } of data) {
    for (const { model, requests, prompt_tokens, completion_tokens, charged, ...line } of lines) {
      const named = [month, line.key_id ?? one.key_id ?? '', name ?? '', external_id ?? '', model]
      const own = [account_id ?? '', line.key_name ?? '']
      yield csvLine([...named, requests, prompt_tokens, completion_tokens, charged, ...own])
    }
  }
}

const HEADS = ['Model', 'Requests', 'Prompt tokens', 'Completion tokens', 'Credits']

/** A sheet of paper for each customer. */
function invoicePage({ month, data, problems, closed_through }: Invoices): string {
  return paper(`Invoices ${month}`, [
    problems.length > 0 ? `<div class="problems"><p>Do not send these:</p><ul>${items(problems)}</ul></div>` : '',
    ...data.map((invoice) => sheetOf(invoice, month, closed_through)),
    data.length === 0 ? `<p>Nothing was used in ${escaped(month)}.</p>` : '',
  ])
}

function sheetOf(invoice: Invoice, month: string, through: string | null): string {
  const { external_id, lines, total } = invoice
  const id = invoice.account_id ?? invoice.key_id ?? ''
  const ids = [external_id, id].filter((id) => id !== null).map(escaped)
  const period = through === null ? month : `${month}-01 to ${through} (UTC)`
  return [
    `<section><h1>${escaped(invoice.name ?? id)}</h1><p>${ids.join('<br>')}</p><p>Usage from ${escaped(period)}</p>`,
    `<table><thead>${tableRow(HEADS, 'th scope="col"')}</thead>`,
    `<tbody>${lines.map((line) => rowOf(line.key_name ? `${line.key_name}: ${line.model}` : line.model, line)).join('')}</tbody>`,
    `<tfoot>${rowOf('Total', total)}</tfoot></table></section>`,
  ].join('\n')
}

function rowOf(head: string, line: InvoiceLine | InvoiceTotal): string {
  const { requests, prompt_tokens, completion_tokens, charged } = line
  return tableRow([head, String(requests), String(prompt_tokens), String(completion_tokens), charged])
}

const items = (texts: readonly string[]) => texts.map((text) => `<li>${escaped(text)}</li>`).join('')
