import { isStated } from '../../gateway/domain/money/price.ts'
import { PRICE_ROWS } from '../../gateway/domain/money/price-kinds.ts'
import { USAGE_FIELDS, type UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import { expectedCost, hasSoundTokens, quantitiesOf } from '../usage/expected-cost.ts'
import type { Finding } from './findings.ts'

const CHANGED = "A row is written once and never changed: compare it with this request's line in the log."

export function checkRow(row: UsageRow): Finding[] {
  return [...checkTokens(row), ...checkCost(row), ...checkUpstreamCost(row)].map((finding) => ({
    requestId: row.requestId,
    ...finding,
  }))
}

function checkTokens(row: UsageRow): Finding[] {
  if (hasSoundTokens(row)) return []
  return [
    {
      what: 'its tokens cannot be',
      expected:
        'whole numbers from 0, no more cached and written to the cache than prompt, no more reasoning than completion',
      got: countsText(row),
      advice: CHANGED,
    },
  ]
}

function countsText(row: UsageRow): string {
  const quantities = quantitiesOf(row)
  const counted = PRICE_ROWS.flatMap(({ line, quantity, field }) => {
    const count = quantity ? quantities[quantity] : 0
    return field && (count !== 0 || !USAGE_FIELDS[field].optional) ? [`${line} ${count}`] : []
  })
  const { reasoningTokens = 0 } = row
  return [...counted, ...(reasoningTokens === 0 ? [] : [`reasoning ${reasoningTokens}`])].join(', ')
}

/** If several things are wrong with a cost, only the most telling one is found. */
function checkCost(row: UsageRow): Finding[] {
  const { cost, hold, outcome, usageSource, price } = row
  const got = { got: cost, advice: CHANGED }
  if (outcome === 'refused' && cost !== 0n) return [{ what: 'it was refused, and yet it costs', expected: 0n, ...got }]
  if (usageSource === 'none' && cost !== 0n) {
    return [{ what: 'nothing was counted, and yet it costs', expected: 0n, ...got }]
  }
  const expected = expectedCost(row)
  const above = price?.above ?? 0
  if (usageSource !== 'none' && above >= row.promptTokens && above > 0) {
    return [
      {
        what: 'its price is that of longer prompts',
        expected: `more than ${above}`,
        got: `${row.promptTokens} prompt tokens`,
        advice: CHANGED,
      },
    ]
  }
  if (expected !== undefined && cost !== expected) {
    return [{ what: 'its cost is not its tokens × its price', expected, ...got }]
  }
  if (cost > hold) return [{ what: 'it costs more than was held', expected: hold, ...got }]
  if (cost < 0n) return [{ what: 'its cost is below zero', expected: 0n, ...got }]
  if (price && !isStated(price)) {
    return [{ what: 'its price is none', expected: 'plain decimals', got: JSON.stringify(price), advice: CHANGED }]
  }
  return []
}

/** The row does not have the cost of its route, so only a cost that is impossible for every route is found. */
function checkUpstreamCost({ upstreamCost, usageSource }: UsageRow): Finding[] {
  if (upstreamCost === undefined) return []
  const got = { got: upstreamCost, advice: CHANGED }
  if (upstreamCost < 0n) return [{ what: 'what it cost us is below zero', expected: 'at least 0', ...got }]
  if (usageSource !== 'none') return []
  return [{ what: 'nothing was counted, and yet it cost us something', expected: 'no upstreamCost', ...got }]
}
