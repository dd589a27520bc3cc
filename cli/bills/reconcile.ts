import { formatCredits, type Nano } from '../../layers/gateway/domain/money/money.ts'
import type { Bill } from './bill.ts'
import { emptySum, type OurSum, reasonsOf } from './our-rows.ts'
import { modelKey } from './same-model.ts'

/** A day and a model: our rows beside the bill. */
export type Reconciled = {
  readonly day: string
  /** Null if the bill does not name models. */
  readonly model: string | null
  readonly requests: number
  readonly charged: Nano
  readonly cost: Nano
  readonly billed: Nano
  /** The bill less our cost. */
  readonly difference: Nano
  readonly isWithin: boolean
  readonly reasons: readonly string[]
}

type Sums = {
  readonly sumOf: (day: string, model: string) => OurSum
  /** `tolerance` in hundredths of a percent. */
  readonly reconciled: (tolerance: bigint) => Reconciled[]
}

/** Amounts are rounded on both sides. */
const LEAST_DIFFERENCE: Nano = 1_000n
const WHOLE = 10_000n
const ATTO_PER_NANO = 1_000_000_000n

/** A day and a model that are on the bill, in our rows, or in both. */
type Pair = { readonly day: string; ours?: OurSum; billed?: { readonly name: string | undefined; atto: bigint } }

/** `days` are those of the range; the bill's lines of other days do not count. */
export function openSums(bill: Bill, days: readonly string[]): Sums {
  const isByModel = bill.lines.every(({ model }) => model !== undefined)
  const pairs = new Map(days.map((day) => [day, new Map<string, Pair>()]))
  const pairOf = (day: string, model: string | undefined): Pair => {
    const key = isByModel ? modelKey(bill.form, model ?? '') : ''
    const pair = pairs.get(day)?.get(key) ?? { day }
    pairs.get(day)?.set(key, pair)
    return pair
  }
  for (const { day, model, atto } of bill.lines) {
    const pair = pairOf(day, model)
    pair.billed ??= { name: model, atto: 0n }
    pair.billed.atto += atto
  }
  return {
    sumOf(day, model) {
      const pair = pairOf(day, model)
      pair.ours ??= emptySum()
      pair.ours.names.add(model)
      return pair.ours
    },
    reconciled: (tolerance) =>
      [...pairs.values()].flatMap((ofDay) => [...ofDay.values()].map((pair) => compared(pair, isByModel, tolerance))),
  }
}

function compared({ day, ours, billed: theirs }: Pair, isByModel: boolean, tolerance: bigint): Reconciled {
  const sum = ours ?? emptySum()
  const billed = nanoOf(theirs?.atto ?? 0n)
  const difference = billed - sum.cost
  return {
    day,
    model: isByModel ? [...sum.names].sort().join(', ') || (theirs?.name ?? null) : null,
    requests: sum.requests,
    charged: sum.charged,
    cost: sum.cost,
    billed,
    difference,
    isWithin: isSmall(difference, billed > sum.cost ? billed : sum.cost, tolerance),
    reasons: [...(ours ? [] : ['no request of ours']), ...(theirs ? [] : ['not on the bill']), ...reasonsOf(sum)],
  }
}

function nanoOf(atto: bigint): Nano {
  const half = atto < 0n ? -ATTO_PER_NANO / 2n : ATTO_PER_NANO / 2n
  return (atto + half) / ATTO_PER_NANO
}

function isSmall(difference: Nano, of: Nano, tolerance: bigint): boolean {
  const size = difference < 0n ? -difference : difference
  return size <= LEAST_DIFFERENCE || size * WHOLE <= of * tolerance
}

export function totalOf(rows: readonly Reconciled[]) {
  const total = (of: (row: Reconciled) => Nano) => formatCredits(rows.reduce((sum, row) => sum + of(row), 0n))
  return {
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    charged: total(({ charged }) => charged),
    upstream_cost: total(({ cost }) => cost),
    billed: total(({ billed }) => billed),
    difference: total(({ difference }) => difference),
  }
}
