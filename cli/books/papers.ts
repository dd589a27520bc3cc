import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { escaped, paper } from '../../layers/gateway/domain/basics/paper.ts'
import { dayAfter } from '../../layers/gateway/domain/rows/closed-day.ts'
import { daysOfMonth, type Statement } from '../../layers/gateway/domain/rows/statement.ts'
import { type Sheet, sheetHtml } from '../../layers/gateway/domain/rows/statement-page.ts'
import { mapConcurrently } from '../../layers/gateway/platform/map-concurrently.ts'
import { type AskBooks, pathOf } from './ask-books.ts'
import { gatherInvoices, type Invoice, type Invoices } from './invoices.ts'

type Asked = { readonly month: string; readonly account?: string; readonly key?: string; readonly all?: boolean }

/** Its sheets are made of further answers. */
type Made = {
  readonly answer: object
  readonly problems: readonly string[]
  readonly csv: () => string
  readonly sheets: () => Promise<readonly Sheet[]>
}

export const PAPERS = {
  async invoices(books: AskBooks, { month, ...asked }: Asked): Promise<Made> {
    const answer = await gatherInvoices(books, month, asked)
    const { problems } = answer
    return { answer, problems, csv: () => invoiceCsv(answer), sheets: () => sheetsOf(books, answer) }
  },
  async statements({ admin }: AskBooks, { month, account, key }: Asked): Promise<Made> {
    if (account && key) throw new Error('A statement is of a customer or of a key: choose one of the two.')
    const answer = await admin.get<Statement>(`${pathOf(account ?? key ?? '')}/statements/${month}`)
    return { answer, problems: [], csv: () => statementCsv(answer), sheets: async () => [answer] }
  },
}

/** A sheet of paper for each customer. */
export function paperPage(month: string, problems: readonly string[], sheets: readonly Sheet[]): string {
  const items = problems.map((text) => `<li>${escaped(text)}</li>`).join('')
  return paper([month, ...(sheets.length === 1 ? sheets : []).map(({ name }) => name)].join(' '), [
    items && `<div class="problems"><p>Do not send these:</p><ul>${items}</ul></div>`,
    ...sheets.map(sheetHtml),
    sheets.length + problems.length === 0 ? `<p>Nothing was used in ${escaped(month)}.</p>` : '',
  ])
}

/** Each invoice, with the seller, the currency and the balances of the statement, if that has the same charges. */
function sheetsOf({ admin }: AskBooks, { month, closed_through: last_day, data }: Invoices): Promise<Sheet[]> {
  if (last_day === null) return Promise.resolve([])
  const isWhole = dayAfter(last_day) === daysOfMonth(month).next
  const sheetOf = async ({ lines, total: { charged }, ...invoice }: Invoice): Promise<Sheet[]> => {
    const id = invoice.account_id ?? invoice.key_id ?? ''
    const name = invoice.name ?? id
    const usage = lines.map((line) => ({ ...line, key_id: line.key_id ?? id, key_name: line.key_name ?? name }))
    const statement = isWhole && (await statementIfAny(admin, `${pathOf(id)}/statements/${month}`))
    if (statement && statement.charged === charged) return [{ ...statement, usage }]
    const unknown = { seller: null, currency: null }
    return [{ ...invoice, ...unknown, name, month, first_day: `${month}-01`, last_day, usage, charged }]
  }
  return Array.fromAsync(mapConcurrently(data, 8, sheetOf))
}

/** None of a key that is gone. */
function statementIfAny(admin: AskBooks['admin'], path: string): Promise<Statement | undefined> {
  return admin.get<Statement>(path).catch((error) => {
    if (!['not_found', 'invalid_request', 'answer_too_large'].includes(error.code)) throw error
    return undefined
  })
}

const INVOICE_COLUMNS = [
  ...['month', 'key_id', 'name', 'external_id', 'model', 'requests', 'prompt_tokens', 'completion_tokens'],
  ...['charged', 'account_id', 'key_name'],
]

function invoiceCsv({ month, data }: Invoices): string {
  const rows = data.flatMap(({ lines, total: _, ...customer }) =>
    lines.map((line) => ({ month, ...customer, ...line })),
  )
  return csvOf(INVOICE_COLUMNS, rows)
}

const STATEMENT_COLUMNS = [
  ...['month', 'kind', 'at', 'key_id', 'key_name', 'model', 'reference'],
  ...['requests', 'prompt_tokens', 'completion_tokens', 'credits'],
]

/** A line for each amount: those before the closing balance add up to it. */
function statementCsv({ month, opening, top_ups, adoptions, corrections, usage, closing }: Statement): string {
  const line = (kind: string, credits: string, more: object = {}) => ({ month, kind, ...more, credits })
  return csvOf(STATEMENT_COLUMNS, [
    line('opening', opening),
    ...top_ups.map((one) => line('top-up', one.credits, one)),
    ...adoptions.map((one) => line('adopted', one.credits, one)),
    ...corrections.map((one) => line('correction', one.credits, one)),
    ...usage.map((one) => line('usage', one.charged === '0' ? '0' : `-${one.charged}`, one)),
    line('closing', closing),
  ])
}

function csvOf(columns: readonly string[], rows: readonly Readonly<Record<string, unknown>>[]): string {
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(csvLine).join('')
}
