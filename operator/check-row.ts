import type { UsageRow } from '../layers/gateway/domain/usage-row.ts'
import { expectedCost, hasSoundTokens, isStated } from './expected-cost.ts'
import type { Finding } from './findings.ts'

const CHANGED = "A row is written once and never changed: compare it with this request's line in the log."

/** What cannot be true of a row, whatever its key says. */
export function checkRow(row: UsageRow): Finding[] {
  return [...checkTokens(row), ...checkCost(row)].map((finding) => ({ requestId: row.requestId, ...finding }))
}

function checkTokens(row: UsageRow): Finding[] {
  if (hasSoundTokens(row)) return []
  const { promptTokens, cachedTokens, completionTokens } = row
  return [
    {
      what: 'its tokens cannot be',
      expected: 'whole numbers from 0, and no more cached than prompt',
      got: `prompt ${promptTokens}, cached ${cachedTokens}, completion ${completionTokens}`,
      advice: CHANGED,
    },
  ]
}

/** Of several things that are wrong with a cost, the one that says most. */
function checkCost(row: UsageRow): Finding[] {
  const { cost, hold, outcome, usageSource, price } = row
  const got = { got: cost, advice: CHANGED }
  if (outcome === 'refused' && cost !== 0n) return [{ what: 'it was refused, and yet it costs', expected: 0n, ...got }]
  if (usageSource === 'none' && cost !== 0n) {
    return [{ what: 'nothing was counted, and yet it costs', expected: 0n, ...got }]
  }
  const expected = expectedCost(row)
  if (expected !== undefined && cost !== expected) {
    return [{ what: 'its cost is not its tokens × its price', expected, ...got }]
  }
  if (cost > hold) return [{ what: 'it costs more than was held', expected: hold, ...got }]
  if (cost < 0n) return [{ what: 'its cost is below zero', expected: 0n, ...got }]
  if (price && !isStated(price)) {
    return [
      { what: 'its price is none', expected: 'three plain decimals', got: JSON.stringify(price), advice: CHANGED },
    ]
  }
  return []
}
