import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import type { Nano } from '../../layers/gateway/domain/money/money.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { mayBeBilled } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import type { Attempt } from '../../layers/gateway/domain/rows/usage-row.ts'

/** As much of an exported row as this needs. */
export type ExportedRow = {
  readonly started_at: string
  readonly duration_ms: number
  readonly outcome: string
  readonly provider: string | null
  readonly upstream_model: string | null
  readonly usage_source: string
  readonly usage_capped: boolean
  readonly price_version: number | null
  readonly cost: string
  readonly upstream_cost: string | null
  readonly attempts: readonly Pick<Attempt, 'provider' | 'model' | 'result'>[]
}

/** Our rows of one day and one model of a provider. */
export type OurSum = {
  readonly names: Set<string>
  readonly versions: Set<number>
  requests: number
  charged: Nano
  cost: Nano
  estimated: number
  withoutCost: number
  capped: number
  unpaid: number
  overMidnight: number
}

export function emptySum(): OurSum {
  return {
    names: new Set(),
    versions: new Set(),
    requests: 0,
    charged: 0n,
    cost: 0n,
    estimated: 0,
    withoutCost: 0,
    capped: 0,
    unpaid: 0,
    overMidnight: 0,
  }
}

/** Adds the parts of a row that are a provider's; `sumOf` finds the sum of a day and a model. */
export function addRow(row: ExportedRow, provider: string, sumOf: (day: string, model: string) => OurSum): void {
  const day = row.started_at.slice(0, 10)
  for (const attempt of row.attempts) {
    if (attempt.provider === provider && mayBeBilled(attempt.result)) sumOf(day, attempt.model).unpaid += 1
  }
  if (row.provider !== provider || row.upstream_model === null) return
  const sum = sumOf(day, row.upstream_model)
  sum.requests += 1
  sum.charged += parseCredits(row.cost) ?? 0n
  sum.cost += parseCredits(row.upstream_cost ?? '0') ?? 0n
  sum.estimated += row.usage_source === 'estimate' ? 1 : 0
  sum.withoutCost += row.upstream_cost === null && row.outcome === 'completed' ? 1 : 0
  sum.capped += row.usage_capped ? 1 : 0
  sum.overMidnight += utcDay(Date.parse(row.started_at) + row.duration_ms) === day ? 0 : 1
  if (row.price_version !== null) sum.versions.add(row.price_version)
}

type Reason = (sum: OurSum) => string | undefined

const counted = (count: number, words: string) => (count > 0 ? `${count} ${words}` : undefined)

/** The reasons that may explain a difference. */
const REASONS: readonly Reason[] = [
  ({ unpaid }) => counted(unpaid, 'answers reached nobody'),
  ({ withoutCost }) => counted(withoutCost, 'answers of routes without a cost'),
  ({ estimated }) => counted(estimated, 'counted by estimate'),
  ({ capped }) => counted(capped, 'counted beyond the hold'),
  ({ overMidnight }) => counted(overMidnight, 'ended on the next day'),
  ({ versions }) => (versions.size > 1 ? `${versions.size} versions of the catalog` : undefined),
]

export function reasonsOf(sum: OurSum): string[] {
  return REASONS.flatMap((reason) => reason(sum) ?? [])
}
