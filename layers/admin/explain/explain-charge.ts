import { shellWord } from '../../gateway/domain/basics/shell-word.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { type BillLine, formatPerMillion, formatPerToken, sumOf } from '../../gateway/domain/money/price.ts'
import { PARTS, PRICE_WORDS, type PriceKind } from '../../gateway/domain/money/price-kinds.ts'
import { mayBeBilled, wasAsked } from '../../gateway/domain/routing/upstream-failure.ts'
import { billOf, expectedCost } from '../../gateway/domain/rows/charges.ts'
import { BEYOND_CAP, type UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import { asksModel } from '../../gateway/endpoints.ts'

export type Entry = readonly [name: string, ...lines: string[]]

export function explainCharge(row: UsageRow): Entry[] {
  const charge: Entry[] = isFree(row)
    ? [['charged', `0: ${whyFree(row)}`]]
    : [...explainTier(row), ...priced(row), ...chargedFailure(row), ...explainMargin(row)]
  return [...charge, ...explainLoss(row)]
}

function isFree({ cost, usageSource }: UsageRow): boolean {
  return cost === 0n && usageSource === 'none'
}

function explainTier({ price, serviceTier, plan, priceFactor }: UsageRow): Entry[] {
  const isPriced = price?.serviceTier === serviceTier
  const how = isPriced ? 'at its own price' : 'for which the catalog has no price: it was charged at the list price'
  const factor = priceFactor === undefined ? 'at its own price' : `× ${priceFactor}`
  return [
    ...(plan === undefined ? [] : [['plan', `${plan}, ${factor}`] as const]),
    ...(price?.above === undefined ? [] : [['tier', `above ${grouped(price.above)} prompt tokens`] as const]),
    ...(serviceTier === undefined ? [] : [['served tier', `${serviceTier}, ${how}`] as const]),
  ]
}

function explainMargin({ cost, upstreamCost, upstreamCostSource }: UsageRow): Entry[] {
  if (upstreamCost === undefined) return []
  const margin = cost - upstreamCost
  return [
    ['cost us', formatCredits(upstreamCost) + (upstreamCostSource === 'provider' ? ', as the provider states it' : '')],
    ['margin', formatCredits(margin) + (margin < 0n ? ': it was charged below what it cost us' : '')],
  ]
}

/** The loss counts against the key's bound for the day. */
function explainLoss(row: UsageRow): Entry[] {
  const { loss, usageCapped, attempts, outcome, httpStatus } = row
  if (!loss) return []
  const unanswered = attempts.filter(({ result }) => mayBeBilled(result)).length
  const reasons = [
    ...(outcome === 'abandoned' && httpStatus === 0
      ? ['its process died, and a provider may bill up to its hold']
      : []),
    ...(usageCapped ? ['its counts came to more than was held'] : []),
    ...(attempts.at(-1)?.result === BEYOND_CAP ? ['the provider went on beyond the output cap'] : []),
    ...(unanswered > 0 ? [`attempts without an answer that may be billed: ${unanswered}`] : []),
  ]
  const why = reasons.join('; ') || 'its route costs more than the price'
  return [['loss', `may have cost us ${formatCredits(loss)} beyond the charge: ${why}`]]
}

export function explainCount(row: UsageRow): Entry[] {
  return isFree(row) ? [] : [['counted by', countedBy(row)]]
}

function whyFree({ outcome, httpStatus, endpoint, errorCode, attempts, replayOf }: UsageRow): string {
  const code = errorCode ? ` (${errorCode})` : ''
  if (outcome === 'refused') {
    const last = attempts.at(-1)
    const by = last && wasAsked(last.result) ? 'refused by the upstream' : 'refused before it went to a model'
    return `it was ${by}${code}, and a refusal is free`
  }
  if (outcome === 'abandoned' && httpStatus === 0) {
    return 'its process died before it could settle; such a request is free, and its hold came back'
  }
  if (outcome === 'abandoned') return `the gateway itself failed${code} before anything was delivered`
  if (outcome === 'upstream_error')
    return `no provider accepted it, or the provider said that it failed${code}, and that is free`
  if (replayOf) return `it is the answer of ${replayOf} once more, for the same Idempotency-Key`
  return asksModel(endpoint) ? 'nothing was counted' : 'this endpoint is free'
}

/** The lines in columns: name, count, unit, price, amount, and in some a remark. */
function priced(row: UsageRow): Entry[] {
  const lines = billOf(row)
  if (!lines) return unpriced(row)
  const counts = lines.map(({ count }) => grouped(count))
  const countWidth = widest(counts)
  const products = lines.map(
    (line, i) => `${counts[i]?.padStart(countWidth)} ${line.unit === 'piece' ? line.kind : 'tokens'}`,
  )
  const prices = lines.map(({ unit, pricePico }) =>
    unit === 'piece' ? `${formatPerToken(pricePico)} each` : `${formatPerMillion(pricePico)} per million`,
  )
  const amounts = [...lines.map(({ amountPico }) => formatPerToken(amountPico)), formatCredits(row.cost)]
  const [productWidth, priceWidth, amountWidth] = [products, prices, amounts].map(widest) as [number, number, number]
  const withRemark = (amount: string, remark: string) => (remark ? `${amount.padEnd(amountWidth)}  ${remark}` : amount)
  const entries = lines.map((line, i): Entry => {
    const product = `${products[i]?.padEnd(productWidth)} × ${prices[i]?.padEnd(priceWidth)}`
    return [line.kind, `${product} = ${withRemark(amounts[i] ?? '', lineRemark(line, row))}`]
  })
  const indent = ' '.repeat(productWidth + ' × '.length + priceWidth + ' = '.length)
  return [...entries, ['charged', indent + withRemark(formatCredits(row.cost), sumRemark(row, sumOf(lines)))]]
}

function lineRemark({ kind }: BillLine, row: UsageRow): string {
  if (kind === 'completion') return ofThemReasoning(row)
  const parts = throughCache(row)
  return kind === 'prompt' && parts.length > 0
    ? `${grouped(row.promptTokens)} prompt tokens less ${parts.join(' and ')}`
    : ''
}

function throughCache(row: UsageRow): string[] {
  const texts = (whole: PriceKind, words: string): string[] =>
    PARTS.flatMap(({ kind, of, field }) => {
      const count = row[field] ?? 0
      if (of !== whole || count === 0) return []
      return [[`${grouped(count)} ${words}${PRICE_WORDS[kind].part}`, ...texts(kind, 'of them ')].join(', ')]
    })
  return texts('input', '')
}

function ofThemReasoning({ reasoningTokens = 0 }: UsageRow): string {
  return reasoningTokens > 0 ? `of them ${grouped(reasoningTokens)} reasoning` : ''
}

function sumRemark(row: UsageRow, pico: bigint): string {
  const exact = formatPerToken(pico)
  if (row.cost !== expectedCost(row)) {
    return `which does not follow from the lines above, ${exact}: run 'waybill audit --key ${shellWord(row.keyId)}'`
  }
  if (pico > row.hold * 1000n) {
    const counter = row.usageSource === 'upstream' ? 'the upstream counted' : 'it came to'
    return `${counter} more than was held for: charged is the hold, and the lines above make ${exact}`
  }
  return pico % 1000n === 0n ? '' : `rounded up from ${exact} to 0.000000001`
}

function unpriced(row: UsageRow): Entry[] {
  const version = row.priceVersion === undefined ? '' : ` (version ${row.priceVersion} of the catalog)`
  const why = row.price ? 'the price or the tokens of this row are damaged' : `this row has no price stored${version}`
  const [cache, reasoning] = [throughCache(row).join(' and '), ofThemReasoning(row)]
  return [
    ['prompt', `${grouped(row.promptTokens)} tokens${cache && `, of them ${cache}`}`],
    ['completion', `${grouped(row.completionTokens)} tokens${reasoning && `, ${reasoning}`}`],
    ['charged', `${formatCredits(row.cost)}; ${why}, so it cannot be shown line by line`],
  ]
}

function countedBy({ usageSource, usageRejected, estimatedBy, attempts }: UsageRow): string {
  const estimate = estimatedBy === 'characters' ? ROUGH_ESTIMATE : ESTIMATE
  if (usageSource === 'upstream') return 'the upstream (reported usage)'
  if (BEYOND.test(attempts.at(-1)?.result ?? ''))
    return 'the output cap: the upstream went on beyond it, and was cut there'
  if (usageRejected) return `${estimate}: ${NO_COUNTS}`
  return usageSource === 'estimate'
    ? `${estimate}: the upstream reported no usage`
    : 'nobody: nothing was counted, and yet it is charged'
}

const BEYOND = new RegExp(`^(${BEYOND_CAP}|runaway)`)
const ESTIMATE = 'an estimate with o200k of what was sent and what came'
const ROUGH_ESTIMATE = 'a rough estimate by characters, because the tokenizer could not be reached'
const NO_COUNTS =
  'the upstream reported counts that are none (negative, not whole, missing, or 0 for an answer with text), or those of one choice where several were given'

function chargedFailure({ outcome, cost, httpStatus, usageSource }: UsageRow): Entry[] {
  if (outcome === 'completed' || outcome === 'refused' || cost === 0n) return []
  const what = httpStatus === 200 ? 'the answer broke off' : 'the answer could not be used'
  const charged =
    usageSource === 'upstream'
      ? 'its usage'
      : 'an estimate of the prompt and of what came, or the output cap if that is not known'
  return [['', `the provider had accepted the request (200), or may have, and ${what}: charged is ${charged}`]]
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map(({ length }) => length))
}
