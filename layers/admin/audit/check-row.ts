import { isStated } from '../../gateway/domain/money/price.ts'
import { PRICE_ROWS } from '../../gateway/domain/money/price-kinds.ts'
import { USAGE_FIELDS, type UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import { expectedCost, hasSoundTokens, quantitiesOf } from '../usage/expected-cost.ts'
import type { Finding } from './findings.ts'

const CHANGED = "A row is written once and never changed: compare it with this request's line in the log."

export function checkRow(row: UsageRow): Finding[] {
  const { requestId } = row
  const findings = [...checkTokens(row), ...checkCost(row), ...checkUpstreamCost(row)]
  return findings.map((finding) => ({ requestId, advice: CHANGED, ...finding }))
}

function checkTokens(row: UsageRow): Finding[] {
  if (hasSoundTokens(row)) return []
  return [
    {
      what: 'its tokens cannot be',
      expected:
        'whole numbers from 0, no more cached and written to the cache than prompt, no more reasoning than completion',
      got: countsText(row),
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
  const { cost: got, hold, outcome, usageSource, price } = row
  if (outcome === 'refused' && got !== 0n) return [{ what: 'it was refused, and yet it costs', expected: 0n, got }]
  if (usageSource === 'none' && got !== 0n) {
    return [{ what: 'nothing was counted, and yet it costs', expected: 0n, got }]
  }
  const expected = expectedCost(row)
  const above = price?.above ?? 0
  if (usageSource !== 'none' && above >= row.promptTokens && above > 0) {
    return [
      {
        what: 'its price is that of longer prompts',
        expected: `more than ${above}`,
        got: `${row.promptTokens} prompt tokens`,
      },
    ]
  }
  if (expected !== undefined && got !== expected) {
    return [{ what: 'its cost is not its tokens × its price', expected, got }]
  }
  if (got > hold) return [{ what: 'it costs more than was held', expected: hold, got }]
  if (got < 0n) return [{ what: 'its cost is below zero', expected: 0n, got }]
  if (price && !isStated(price)) {
    return [{ what: 'its price is none', expected: 'plain decimals', got: JSON.stringify(price) }]
  }
  return []
}

/** The row does not have the cost of its route, so only a cost that is impossible for every route is found. */
function checkUpstreamCost({ upstreamCost: got, usageSource }: UsageRow): Finding[] {
  if (got === undefined) return []
  if (got < 0n) return [{ what: 'what it cost us is below zero', expected: 'at least 0', got }]
  if (usageSource !== 'none') return []
  return [{ what: 'nothing was counted, and yet it cost us something', expected: 'no upstreamCost', got }]
}
