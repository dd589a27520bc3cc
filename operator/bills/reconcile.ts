import { formatCredits, type Nano } from '../../layers/gateway/domain/money.ts'
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

const NO_MODEL = ''
/** Amounts are rounded on both sides. */
const LEAST_DIFFERENCE: Nano = 1_000n
const WHOLE = 10_000n
const ATTO_PER_NANO = 1_000_000_000n

/** `days` are those of the range; the bill's lines of other days do not count. */
export function openSums(bill: Bill, days: readonly string[]): Sums {
  const isByModel = bill.lines.every(({ model }) => model !== undefined)
  const keyOf = (model = NO_MODEL) => (isByModel ? modelKey(bill.form, model) : NO_MODEL)
  const ours = new Map<string, Map<string, OurSum>>(days.map((day) => [day, new Map()]))
  return {
    sumOf(day, model) {
      const sum = ours.get(day)?.get(keyOf(model)) ?? emptySum()
      ours.get(day)?.set(keyOf(model), sum)
      sum.names.add(model)
      return sum
    },
    reconciled(tolerance) {
      const billed = billedBy(bill, keyOf)
      return days.flatMap((day) => {
        const [mine, theirs] = [ours.get(day) ?? new Map(), billed.get(day) ?? new Map()]
        const keys = [...new Set([...mine.keys(), ...theirs.keys()])]
        return keys.map((key) => compared(day, isByModel, mine.get(key), theirs.get(key), tolerance))
      })
    },
  }
}

type Billed = { readonly name: string | undefined; readonly atto: bigint }

function billedBy({ lines }: Bill, keyOf: (model?: string) => string): Map<string, Map<string, Billed>> {
  const days = new Map<string, Map<string, Billed>>()
  for (const { day, model, atto } of lines) {
    const models = days.get(day) ?? new Map<string, Billed>()
    const key = keyOf(model)
    const before = models.get(key)
    models.set(key, { name: before?.name ?? model, atto: (before?.atto ?? 0n) + atto })
    days.set(day, models)
  }
  return days
}

function compared(
  day: string,
  isByModel: boolean,
  mine: OurSum | undefined,
  theirs: Billed | undefined,
  tolerance: bigint,
): Reconciled {
  const sum = mine ?? emptySum()
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
    reasons: [...(mine ? [] : ['no request of ours']), ...(theirs ? [] : ['not on the bill']), ...reasonsOf(sum)],
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
