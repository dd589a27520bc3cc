import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import type { Nano } from '../../layers/gateway/domain/money/money.ts'
import { mayBeBilled } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import type { BillForm } from '../reading/known-providers.ts'
import type { Bill } from './read-bill.ts'

/** Amounts are rounded on both sides. */
const LEAST_DIFFERENCE: Nano = 1_000n
const WHOLE = 10_000n
const ATTO_PER_NANO = 1_000_000_000n

const UNPAID = 'answers reached nobody'
/** The reasons that may explain a difference, and the rows that each is counted in. Attempts that may be billed are no rows. */
const REASONS: Readonly<Record<string, (row: UsageRow) => boolean>> = {
  [UNPAID]: () => false,
  'answers of routes without a cost': (row) => row.upstreamCost === undefined && row.outcome === 'completed',
  'counted by estimate': (row) => row.usageSource === 'estimate',
  'counted beyond the hold': (row) => row.usageCapped === true,
  'ended on the next day': (row) => utcDay(row.startedAtMs + row.durationMs) !== utcDay(row.startedAtMs),
}

/** The sums of a day and a model: of our rows, if there are names, and of the bill. */
class Pair {
  readonly names = new Set<string>()
  readonly versions = new Set<number>()
  readonly counts = new Map(Object.keys(REASONS).map((reason) => [reason, 0]))
  requests = 0
  charged: Nano = 0n
  cost: Nano = 0n
  billed: { readonly name: string | undefined; atto: bigint } | undefined

  count(reason: string): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1)
  }

  add(row: UsageRow): void {
    this.requests += 1
    this.charged += row.cost
    this.cost += row.upstreamCost ?? 0n
    for (const [reason, holds] of Object.entries(REASONS)) if (holds(row)) this.count(reason)
    if (row.priceVersion !== undefined) this.versions.add(row.priceVersion)
  }

  reasons(): string[] {
    return [
      ...(this.names.size > 0 ? [] : ['no request of ours']),
      ...(this.billed ? [] : ['not on the bill']),
      ...[...this.counts].filter(([, count]) => count > 0).map(([reason, count]) => `${count} ${reason}`),
      ...(this.versions.size > 1 ? [`${this.versions.size} versions of the catalog`] : []),
    ]
  }
}

/** Puts a provider's rows beside its bill. Lines and rows of other days than these do not count. */
export function openReconciliation(bill: Bill, days: readonly string[], provider: string) {
  const isByModel = bill.lines.every(({ model }) => model !== undefined)
  const pairs = new Map(days.map((day) => [day, new Map<string, Pair>()]))
  const pairOf = (day: string, model: string | undefined): Pair => {
    const key = isByModel ? modelKey(bill.form, model ?? '') : ''
    const pair = pairs.get(day)?.get(key) ?? new Pair()
    pairs.get(day)?.set(key, pair)
    return pair
  }
  const oursOf = ({ startedAtMs }: UsageRow, model: string): Pair => {
    const pair = pairOf(utcDay(startedAtMs), model)
    pair.names.add(model)
    return pair
  }
  for (const { day, model, atto } of bill.lines) {
    const pair = pairOf(day, model)
    pair.billed ??= { name: model, atto: 0n }
    pair.billed.atto += atto
  }
  return {
    add(row: UsageRow): void {
      for (const attempt of row.attempts) {
        if (attempt.provider === provider && mayBeBilled(attempt.result)) oursOf(row, attempt.model).count(UNPAID)
      }
      if (row.provider === provider && row.upstreamModel !== undefined) oursOf(row, row.upstreamModel).add(row)
    },
    /** `tolerance` is in hundredths of a percent. */
    rows: (tolerance: bigint): Reconciled[] =>
      [...pairs].flatMap(([day, ofDay]) =>
        [...ofDay.values()].map((pair) => compared(day, pair, isByModel, tolerance)),
      ),
  }
}

export type Reconciled = ReturnType<typeof compared>

function compared(day: string, pair: Pair, isByModel: boolean, tolerance: bigint) {
  const { requests, charged, cost } = pair
  const { atto = 0n } = pair.billed ?? {}
  const billed: Nano = (atto + (atto < 0n ? -ATTO_PER_NANO : ATTO_PER_NANO) / 2n) / ATTO_PER_NANO
  const difference = billed - cost
  const size = difference < 0n ? -difference : difference
  return {
    day,
    /** Null if the bill does not name models. */
    model: isByModel ? [...pair.names].sort().join(', ') || (pair.billed?.name ?? null) : null,
    requests,
    charged,
    billed,
    difference,
    reasons: pair.reasons(),
    upstream_cost: cost,
    within_tolerance: size <= LEAST_DIFFERENCE || size * WHOLE <= (billed > cost ? billed : cost) * tolerance,
  }
}

/** One key for the names of one model: a dated name and its alias, or its name on a bill of AWS. */
function modelKey(form: BillForm, name: string): string {
  if (form !== 'AWS') return name.toLowerCase().replace(/[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '')
  // "Claude4.5Sonnet", "Claude Sonnet 4.5" and "us.anthropic.claude-sonnet-4-5-20250929-v1:0" have the same words.
  const bare = name.replace(/^(?:[a-z]{2,6}\.)?[a-z0-9]+\.(?=[a-z])/, '').replace(/-v\d+(?::\d+)*$/i, '')
  const spaced = bare.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  const words = (spaced.match(/[a-z]+|\d+/g) ?? []).filter((word) => !/^\d{8}$/.test(word))
  return words.sort().join(' ')
}

/** The words about a difference; none if it is within the tolerance. */
export function reasonText({ within_tolerance, reasons }: Reconciled): string {
  return within_tolerance ? '' : reasons.join(', ') || 'a price, or usage elsewhere'
}

type Compared = { readonly data: readonly Reconciled[] }

export function verdictOf({ data }: Compared): string {
  const wrong = data.filter((row) => !row.within_tolerance).length
  return wrong === 0
    ? 'Every day and model is within the tolerance.'
    : `${wrong} of ${data.length} differ by more than the tolerance.`
}

export function reconciliationCsv({ data }: Compared): string {
  const lines = data.map((row) => {
    const { day, model, requests, charged, upstream_cost: cost, billed, difference, reasons } = row
    return csvLine([day, model, requests, charged, cost, billed, difference, row.within_tolerance, reasons.join('; ')])
  })
  return ['day,model,requests,charged,upstreamCost,billed,difference,within,reasons\r\n', ...lines].join('')
}
