import type { z } from 'zod'
import { DAY_MS, HOUR_MS, isoTime } from '../../gateway/domain/basics/time.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import type { UsagePart } from '../../gateway/domain/rows/day-total.ts'
import { UsageGroups } from '../../gateway/domain/rows/day-total.ts'
import { emptyHistogram, type Histogram, quantileOf } from '../../gateway/domain/rows/histogram.ts'
import { addToModel, emptyModel, type ModelPart } from '../../gateway/domain/rows/usage-sum.ts'
import type { TimeRange } from '../../gateway/store/rows/usage-rows.ts'
import type { ReadUsage, UsageOfSpan } from '../usage/usage-reader.ts'
import { latestRowMs } from '../usage/usage-rows.ts'
import { requireLength, requireOrder } from './pages.ts'
import type { overviewQuery } from './shapes/queries.ts'
import type { Overview } from './shapes/usage.ts'

type Ranges = Pick<Overview, 'range' | 'before' | 'series' | 'top_keys' | 'top_models'>

/** A longer range is shown by the day. */
const MOST_DAYS_BY_HOUR = 3
const MOST_DAYS = 400
const TOP_SHOWN = 10

/** The numbers of a range, of the range before it, and of the models and keys that were charged the most. */
export async function rangesOf(read: ReadUsage, sent: z.output<typeof overviewQuery>, nowMs: number): Promise<Ranges> {
  const toMs = sent.to ?? nowMs
  const fromMs = sent.from ?? toMs - DAY_MS
  requireOrder(fromMs, toMs)
  requireLength(fromMs, toMs, MOST_DAYS)
  // A gateway's clock may be ahead, and its newest rows belong to a range that ends now.
  const lastMs = latestRowMs(nowMs)
  const range = { fromMs, toMs: sent.to === undefined ? lastMs : Math.min(toMs, lastMs) }
  const earlier = { fromMs: Math.max(0, fromMs - (toMs - fromMs)), toMs: Math.min(fromMs, lastMs) }
  const [step, stepMs] =
    toMs - fromMs > MOST_DAYS_BY_HOUR * DAY_MS ? (['days', DAY_MS] as const) : (['hours', HOUR_MS] as const)
  const [spans, spansBefore, keys] = await Promise.all([
    Array.fromAsync(read(range, 'models', step)),
    Array.fromAsync(read(earlier, 'models', 'days')),
    Array.fromAsync(read(range, 'keys', 'days')),
  ])
  return {
    range: numbersOf({ fromMs, toMs }, spans),
    before: numbersOf(earlier, spansBefore),
    series: seriesOf(spans, stepMs),
    top_keys: topOf(keys.flatMap(({ sum }) => [...sum.keys])),
    // Calls such as those for the list of models ask none.
    top_models: topOf(modelsIn(spans).flatMap((part) => (part.model === undefined ? [] : [[part.model, part]]))),
  }
}

function modelsIn(spans: readonly UsageOfSpan[]): ModelPart[] {
  return spans.flatMap(({ sum }) => [...sum.models.values()])
}

function numbersOf({ fromMs, toMs }: TimeRange, spans: readonly UsageOfSpan[]): Overview['range'] {
  const all = together(spans)
  return {
    from: isoTime(fromMs),
    to: isoTime(toMs),
    ...figuresOf(all),
    first_token_ms: quantilesOf(all.firstToken),
    duration_ms: quantilesOf(all.duration),
  }
}

/** A day that is not over is read by the hour, and an hour may be read in parts. */
function seriesOf(spans: readonly UsageOfSpan[], stepMs: number): Overview['series'] {
  const points = Map.groupBy(spans, ({ atMs }) => Math.floor(atMs / stepMs) * stepMs)
  return [...points]
    .sort(([a], [b]) => a - b)
    .map(([atMs, some]) => {
      const all = together(some)
      return { start_time: isoTime(atMs), ...figuresOf(all), first_token_ms: quantilesOf(all.firstToken) }
    })
}

function together(spans: readonly UsageOfSpan[]): ModelPart {
  const sum = emptyModel()
  for (const part of modelsIn(spans)) addToModel(sum, part)
  return sum
}

function topOf(parts: readonly (readonly [name: string, part: UsagePart])[]): Overview['top_keys'] {
  const groups = new UsageGroups()
  for (const [name, part] of parts) groups.add(name, part)
  return groups
    .dearestFirst()
    .slice(0, TOP_SHOWN)
    .map(([id, part]) => ({ id, name: id, ...figuresOf(part) }))
}

function figuresOf({ requests, completed, cost, upstreamCost, costOfStated }: UsagePart) {
  return {
    requests,
    errors: requests - completed,
    cost: formatCredits(cost),
    upstream_cost: formatCredits(upstreamCost),
    margin: formatCredits(costOfStated - upstreamCost),
  }
}

export function quantilesOf(histogram: Histogram = emptyHistogram()) {
  return { p50: quantileOf(histogram, 0.5) ?? null, p95: quantileOf(histogram, 0.95) ?? null }
}
