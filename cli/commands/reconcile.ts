import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { DAY_MS, isoTime, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { CliError, printJson, printTable, summed } from '../../layers/terminal/output.ts'
import type { Bill } from '../bills/read-bill.ts'
import type { Reconciled } from '../bills/reconcile.ts'
import { option, percentage, required, upTo } from './arguments.ts'
import { exportedRows } from './exported-rows.ts'
import type { CommandRow, Session } from './open-session.ts'
import { type RangeOptions, rangeOf, rangeOptions } from './time-range.ts'

type ReconcileOptions = RangeOptions & {
  readonly provider: string
  readonly bill: readonly string[]
  readonly tolerance: bigint
  readonly csv?: boolean
}

const MOST_DAYS = 366
const MOST_BILL_BYTES = 64 * 1024 * 1024

export const RECONCILE: CommandRow = {
  words:
    'a provider’s own bill beside our rows, by UTC day and model; exits with 1 if they differ by more than the tolerance',
  options: [
    required('--provider <name>', 'the provider, by its name in the catalog'),
    required(
      '--bill <file>',
      'costs of OpenAI, cost report of Anthropic, activity of OpenRouter, or cost and usage report of AWS; may be given more than once',
      upTo(100, 'files'),
    ),
    ...rangeOptions(true),
    // Commander cannot print a bigint in its help.
    option('--tolerance <percent>', 'differences up to this are fine', percentage(100)).default(100n, '1'),
    option('--csv', 'print CSV, with a row for each day and model'),
  ],
  work: reconcileAction,
}

async function reconcileAction(session: Session, options: ReconcileOptions): Promise<void> {
  const { out, json, nowMs } = session
  const { folder } = session.terminal
  if (json && options.csv) throw new CliError('Choose one of --json and --csv.')
  const range = wholeDays(options, nowMs)
  const { openReconciliation } = await import('../bills/reconcile.ts')
  const { readSources } = await import('../reading/read-source.ts')
  const { readBill } = await import('../bills/read-bill.ts')
  const sources = await readSources(options.bill, { folder, nowMs, mostBytes: MOST_BILL_BYTES })
  const bill = readBill(sources, MOST_BILL_BYTES)
  await requireProvider(session, options.provider, bill.form)
  const days = Array.from({ length: (range.toMs - range.fromMs) / DAY_MS }, (_, i) => utcDay(range.fromMs + i * DAY_MS))
  const reconciliation = openReconciliation(bill, days, options.provider)
  let died = 0
  for await (const row of exportedRows(session, 'reconcile', range)) {
    reconciliation.add(row)
    if (row.outcome === 'abandoned') died += 1
  }
  const rows = reconciliation.rows(options.tolerance)
  const missing = bill.days.length > 0 ? days.filter((day) => !bill.days.includes(day)) : []
  const notes = notesOf(bill, days, missing, died)
  const ok = rows.every((row) => row.within_tolerance) && missing.length === 0
  if (options.csv) showCsv(session, rows)
  else if (!json) show(session, rows, notes)
  else {
    printJson(out, {
      object: 'reconciliation',
      provider: options.provider,
      from: isoTime(range.fromMs),
      to: isoTime(range.toMs),
      bill: { form: bill.form, files: sources.map(({ name, sha256 }) => ({ name, sha256 })) },
      data: rows,
      total: totalOf(rows),
      notes,
      ok,
    })
  }
  if (!ok) session.fail()
}

/** Bills are by day. Unless an end is given, up to the last whole day. */
function wholeDays(options: ReconcileOptions, nowMs: number): { fromMs: number; toMs: number } {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS
  const { fromMs, toMs = todayMs } = rangeOf(options, nowMs)
  if (fromMs % DAY_MS !== 0 || toMs % DAY_MS !== 0) {
    throw new CliError(
      'A bill is by days: --from and --to must be UTC days, such as 2026-11-01, or words such as last-month.',
    )
  }
  if (toMs <= fromMs) throw new CliError('There is no whole day from --from to --to.')
  if (toMs - fromMs > MOST_DAYS * DAY_MS) throw new CliError(`There may be at most ${MOST_DAYS} days.`)
  return { fromMs, toMs }
}

async function requireProvider({ admin }: Session, provider: string, form: Bill['form']): Promise<void> {
  const { providers } = (await admin.get<CatalogShape>('/catalog')).catalog as CatalogData
  const entry = Object.hasOwn(providers, provider) ? providers[provider] : undefined
  if (!entry) {
    throw new CliError(`There is no provider '${provider}' (there is: ${Object.keys(providers).join(', ') || 'none'}).`)
  }
  const { knownProvidersOf } = await import('../reading/known-providers.ts')
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
  const requests = rows.reduce((sum, row) => sum + row.requests, 0)
  const amounts = (['charged', 'upstream_cost', 'billed', 'difference'] as const).map((name) => [
    name,
    rows.reduce((sum, row) => sum + row[name], 0n),
  ])
  return { requests, ...Object.fromEntries(amounts) }
}

function show({ out }: Session, rows: readonly Reconciled[], notes: readonly string[]): void {
  printTable(out, rows, {
    day: { of: ({ day }) => day, isWhole: true },
    model: ({ model }) => model,
    requests: { of: ({ requests }) => requests, isSummed: true, isSpare: true },
    charged: { of: ({ charged }) => charged, isSummed: true, isSpare: true },
    'our cost': summed((row) => row.upstream_cost),
    billed: summed(({ billed }) => billed),
    difference: { ...summed(({ difference }) => difference), style: (row) => (row.within_tolerance ? 'good' : 'bad') },
    'may be because of': (row) => (row.within_tolerance ? '' : row.reasons.join(', ') || 'a price, or usage elsewhere'),
  })
  for (const note of notes) out.log(note)
  const wrong = rows.filter((row) => !row.within_tolerance).length
  out.log(
    wrong === 0
      ? 'Every day and model is within the tolerance.'
      : `${wrong} of ${rows.length} differ by more than the tolerance.`,
  )
}

const CSV_HEADER = 'day,model,requests,charged,upstreamCost,billed,difference,within,reasons\r\n'

function showCsv({ out }: Session, rows: readonly Reconciled[]): void {
  const lines = rows.map((row) => {
    const { day, model, requests, charged, upstream_cost: cost, billed, difference, reasons } = row
    const amounts = [requests, charged, cost, billed, difference]
    return csvLine([day, model ?? undefined, ...amounts, row.within_tolerance, reasons.join('; ')])
  })
  out.log([CSV_HEADER, ...lines].join('').trimEnd())
}
