import type { Nano } from '../../gateway/domain/money/money.ts'
import { isStated } from '../../gateway/domain/money/price.ts'
import { PRICE_ROWS } from '../../gateway/domain/money/price-kinds.ts'
import { expectedCost, hasSoundTokens, quantitiesOf } from '../../gateway/domain/rows/charges.ts'
import { USAGE_FIELDS, type UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import type { Finding } from './findings.ts'

const CHANGED = "A row is written once and never changed: compare it with this request's line in the log."

export function checkRow(row: UsageRow): Finding[] {
  const { requestId } = row
  const findings = [...checkTokens(row), ...checkCost(row), ...checkUpstreamCost(row)]
  return findings.map((finding) => ({ requestId, advice: CHANGED, ...finding }))
}

function checkTokens(row: UsageRow): Finding[] {
  if (hasSoundTokens(row)) return []
  const expected =
    'whole numbers from 0, no more cached and written to the cache than prompt, no more reasoning than completion'
  return [{ what: 'its tokens cannot be', expected, got: countsText(row) }]
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
  const { cost, hold, outcome, usageSource, price, promptTokens } = row
  const found = (what: string, expected: Nano | string, got: Nano | string = cost) => [{ what, expected, got }]
  if (outcome === 'refused' && cost !== 0n) return found('it was refused, and yet it costs', 0n)
  if (usageSource === 'none' && cost !== 0n) return found('nothing was counted, and yet it costs', 0n)
  const above = price?.above ?? 0
  if (usageSource !== 'none' && above >= promptTokens && above > 0) {
    return found('its price is that of longer prompts', `more than ${above}`, `${promptTokens} prompt tokens`)
  }
  const expected = expectedCost(row)
  if (expected !== undefined && cost !== expected) return found('its cost is not its tokens × its price', expected)
  if (cost > hold) return found('it costs more than was held', hold)
  if (cost < 0n) return found('its cost is below zero', 0n)
  return price && !isStated(price) ? found('its price is none', 'plain decimals', JSON.stringify(price)) : []
}

/** The row does not have the cost of its route, so only a cost that is impossible for every route is found. */
function checkUpstreamCost({ upstreamCost: got, usageSource }: UsageRow): Finding[] {
  if (got === undefined) return []
  if (got < 0n) return [{ what: 'what it cost us is below zero', expected: 'at least 0', got }]
  if (usageSource !== 'none') return []
  return [{ what: 'nothing was counted, and yet it cost us something', expected: 'no upstreamCost', got }]
}
