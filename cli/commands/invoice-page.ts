import { plainText } from '../../layers/gateway/domain/basics/plain-text.ts'
import type { Invoice, InvoiceLine, Invoices, InvoiceTotal } from './invoices.ts'

const STYLE = [
  'body{font:14px/1.5 system-ui,sans-serif;padding:2rem max(1rem,calc(50% - 24rem));color:#111;background:#fff}',
  'section{break-after:page;padding-bottom:4rem}section:last-of-type{break-after:auto}',
  'table{border-collapse:collapse;width:100%}th,td{padding:.3rem .5rem;border-bottom:1px solid #ccc;text-align:right}',
  'th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}tfoot td{font-weight:700}',
  '.problems{border:2px solid #b00;padding:.5rem 1rem}',
].join('')

const HEADS = ['Model', 'Requests', 'Prompt tokens', 'Completion tokens', 'Credits']

/** A page that loads nothing and runs nothing, with a sheet of paper for each customer. */
export function invoicePage(invoices: Invoices): string {
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

function sheetOf({ key_id, name, external_id, lines, total }: Invoice, month: string, through: string | null): string {
  const ids = [external_id, key_id].filter((id) => id !== null).map(escaped)
  const period = through === null ? month : `${month}-01 to ${through} (UTC)`
  return [
    `<section><h1>${escaped(name ?? key_id)}</h1><p>${ids.join('<br>')}</p><p>Usage from ${escaped(period)}</p>`,
    `<table><thead><tr>${HEADS.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>`,
    `<tbody>${lines.map((line) => rowOf(line.model, line)).join('')}</tbody>`,
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
