import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { plainText } from '../../layers/gateway/domain/basics/plain-text.ts'
import { printJson } from '../../layers/terminal/output.ts'
import { mustBe, option, required } from './arguments.ts'
import { gatherInvoices, type Invoice, type InvoiceLine, type Invoices, type InvoiceTotal } from './invoices.ts'
import type { CommandRow, Session } from './open-session.ts'

type Options = {
  readonly month: string
  readonly key?: string
  readonly account?: string
  readonly format: 'csv' | 'json' | 'html'
}

const monthIn = (text: string) => /^20\d\d-(0[1-9]|1[0-2])$/.exec(text)?.[0]

export const INVOICE: CommandRow = {
  words:
    'what each customer, an account or a key, was charged in a month, by model; exits with 1 if a day is open or the books differ',
  options: [
    required('--month <month>', 'a UTC month such as 2026-10', mustBe('a month such as 2026-10', monthIn)),
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

const STYLE = [
  'body{font:14px/1.5 system-ui,sans-serif;padding:2rem max(1rem,calc(50% - 24rem));color:#111;background:#fff}',
  'section{break-after:page;padding-bottom:4rem}section:last-of-type{break-after:auto}',
  'table{border-collapse:collapse;width:100%}th,td{padding:.3rem .5rem;border-bottom:1px solid #ccc;text-align:right}',
  'th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}tfoot td{font-weight:700}',
  '.problems{border:2px solid #b00;padding:.5rem 1rem}',
].join('')

const HEADS = ['Model', 'Requests', 'Prompt tokens', 'Completion tokens', 'Credits']

/** A page that loads nothing and runs nothing, with a sheet of paper for each customer. */
function invoicePage(invoices: Invoices): string {
  const { month, data, problems, closed_through } = invoices
  const title = `Invoices ${escaped(month)}`
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${title}</title><style>${STYLE}</style></head><body>`,
    problems.length > 0 ? `<div class="problems"><p>Do not send these:</p><ul>${items(problems)}</ul></div>` : '',
    ...data.map((invoice) => sheetOf(invoice, month, closed_through)),
    data.length === 0 ? `<p>Nothing was used in ${escaped(month)}.</p>` : '',
    '</body></html>\n',
  ].join('\n')
}

function sheetOf(invoice: Invoice, month: string, through: string | null): string {
  const { external_id, lines, total } = invoice
  const id = invoice.account_id ?? invoice.key_id ?? ''
  const ids = [external_id, id].filter((id) => id !== null).map(escaped)
  const period = through === null ? month : `${month}-01 to ${through} (UTC)`
  return [
    `<section><h1>${escaped(invoice.name ?? id)}</h1><p>${ids.join('<br>')}</p><p>Usage from ${escaped(period)}</p>`,
    `<table><thead><tr>${HEADS.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>`,
    `<tbody>${lines.map((line) => rowOf(line.key_name ? `${line.key_name}: ${line.model}` : line.model, line)).join('')}</tbody>`,
    `<tfoot>${rowOf('Total', total)}</tfoot></table></section>`,
  ].join('\n')
}

function rowOf(head: string, line: InvoiceLine | InvoiceTotal): string {
  const { requests, prompt_tokens, completion_tokens, charged } = line
  const cells = [head, String(requests), String(prompt_tokens), String(completion_tokens), charged]
  return `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`
}

const items = (texts: readonly string[]) => texts.map((text) => `<li>${escaped(text)}</li>`).join('')

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return plainText(text).replace(/[&<>"']/g, (sign) => SIGNS[sign] as string)
}
