import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import { DAY_MS, isoTime, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { CliError } from '../../layers/terminal/output.ts'
import type { AskBooks } from '../books/ask-books.ts'
import { exportedRows } from '../books/exported-rows.ts'
import { knownProvidersOf } from '../reading/known-providers.ts'
import { type Bill, type BillFile, readBill } from './read-bill.ts'
import { openReconciliation, type Reconciled } from './reconcile.ts'

type Range = { readonly fromMs: number; readonly toMs: number }

type Wanted = Range & {
  readonly provider: string
  readonly files: readonly BillFile[]
  /** In hundredths of a percent. */
  readonly tolerance: bigint
}

const MOST_DAYS = 366
export const MOST_BILL_BYTES = 64 * 1024 * 1024

/** A provider's bill beside our rows. The files are read here, and sent nowhere. */
export async function reconciled(books: AskBooks, { provider, files, fromMs, toMs, tolerance }: Wanted) {
  const days = daysIn({ fromMs, toMs })
  const bill = await readBill(files, MOST_BILL_BYTES)
  await requireProvider(books, provider, bill.form)
  const reconciliation = openReconciliation(bill, days, provider)
  let died = 0
  for await (const row of exportedRows(books, 'reconcile', { fromMs, toMs, with_cost: 'true' })) {
    reconciliation.add(row)
    if (row.outcome === 'abandoned') died += 1
  }
  const data = reconciliation.rows(tolerance)
  const missing = bill.days.length > 0 ? days.filter((day) => !bill.days.includes(day)) : []
  return {
    object: 'reconciliation' as const,
    provider,
    from: isoTime(fromMs),
    to: isoTime(toMs),
    bill: { form: bill.form },
    data,
    total: totalOf(data),
    notes: notesOf(bill, days, missing, died),
    ok: data.every((row) => row.within_tolerance) && missing.length === 0,
  }
}

function daysIn({ fromMs, toMs }: Range): string[] {
  if (fromMs % DAY_MS !== 0 || toMs % DAY_MS !== 0) {
    throw new CliError('A bill is by days: both ends of the range must be UTC days, such as 2026-11-01.')
  }
  if (toMs <= fromMs) throw new CliError('There is no whole day in the range.')
  if (toMs - fromMs > MOST_DAYS * DAY_MS) throw new CliError(`There may be at most ${MOST_DAYS} days.`)
  return Array.from({ length: (toMs - fromMs) / DAY_MS }, (_, i) => utcDay(fromMs + i * DAY_MS))
}

async function requireProvider({ admin }: AskBooks, provider: string, form: Bill['form']): Promise<void> {
  const { providers } = (await admin.get<CatalogShape>('/catalog')).catalog as CatalogData
  const entry = Object.hasOwn(providers, provider) ? providers[provider] : undefined
  if (!entry) {
    throw new CliError(`There is no provider '${provider}' (there is: ${Object.keys(providers).join(', ') || 'none'}).`)
  }
  const expected = knownProvidersOf(entry)[0]?.[1].bills
  if (expected !== undefined && expected !== form) {
    throw new CliError(`The bill is one of ${form}, and the provider '${provider}' sends bills of ${expected}.`)
  }
}

function notesOf(bill: Bill, days: readonly string[], missing: readonly string[], died: number): string[] {
  const wanted = new Set(days)
  const shown = `${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''}`
  const unnamed = bill.lines.filter(({ model }) => model === undefined).length
  const outside = bill.lines.filter(({ day }) => !wanted.has(day)).length
  const notes: readonly (readonly [count: number, note: string])[] = [
    [missing.length, `The bill lacks ${missing.length} of ${days.length} days: ${shown}.`],
    [unnamed, 'The bill does not name the model of every line, so days are compared as a whole.'],
    [outside, `${outside} lines of the bill are of other days, and left out.`],
    [bill.leftOut, `${bill.leftOut} lines of the bill are no usage of a model, and left out.`],
    [died, `${died} requests died on their way: a provider may have billed them, and no row says which.`],
  ]
  return notes.filter(([count]) => count > 0).map(([, note]) => note)
}

function totalOf(rows: readonly Reconciled[]) {
  const sum = (name: 'charged' | 'upstream_cost' | 'billed' | 'difference') =>
    rows.reduce((all, row) => all + row[name], 0n)
  return {
    requests: rows.reduce((all, row) => all + row.requests, 0),
    charged: sum('charged'),
    upstream_cost: sum('upstream_cost'),
    billed: sum('billed'),
    difference: sum('difference'),
  }
}
