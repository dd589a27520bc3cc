import { formatCredits, formatDecimal } from '../layers/gateway/domain/money.ts'
import { type BillLine, billLines, formatPerMillion, parsePrice, sumOf } from '../layers/gateway/domain/price.ts'
import type { UsageRow } from '../layers/gateway/domain/usage-row.ts'
import { expectedCost, hasSoundTokens, isStated, quantitiesOf } from './expected-cost.ts'

/** A name, and what there is to say under it: one line or several. */
export type Entry = readonly [name: string, ...lines: string[]]

/** What a request was charged, line by line, and why it came to that. */
export function explainCharge(row: UsageRow): Entry[] {
  if (row.cost === 0n && row.usageSource === 'none') return [['charged', `0: ${whyFree(row)}`]]
  return [...priced(row), ...brokenOff(row)]
}

/** Whose word was taken for the tokens. */
export function explainCount(row: UsageRow): Entry[] {
  return row.cost === 0n && row.usageSource === 'none' ? [] : [['counted by', countedBy(row)]]
}

function whyFree({ outcome, httpStatus, endpoint, errorCode, attempts, replayOf }: UsageRow): string {
  const code = errorCode ? ` (${errorCode})` : ''
  if (outcome === 'refused') {
    const by = attempts.length > 0 ? 'refused by the upstream' : 'refused before it went to a model'
    return `it was ${by}${code}, and a refusal is free`
  }
  if (outcome === 'abandoned' && httpStatus === 0) {
    return 'its process died before it could settle; such a request is free, and its hold came back'
  }
  if (outcome === 'abandoned') return `the gateway itself failed${code} before anything was delivered`
  if (outcome === 'upstream_error') return `nothing was delivered${code}, and that is free`
  if (replayOf) return `it is the answer of ${replayOf} once more, for the same Idempotency-Key`
  return endpoint === 'chat.completions' ? 'nothing was counted' : 'this endpoint is free'
}

/** The lines in columns: name, tokens, price, amount, and a remark where one is due. */
function priced(row: UsageRow): Entry[] {
  const { price } = row
  if (!price || !isStated(price) || !hasSoundTokens(row)) return unpriced(row)
  const lines = billLines(parsePrice(price), quantitiesOf(row))
  const counts = lines.map(({ count }) => grouped(count))
  const prices = lines.map(priceText)
  const amounts = [...lines.map(({ amountPico }) => formatPico(amountPico)), formatCredits(row.cost)]
  const [countWidth, priceWidth, amountWidth] = [counts, prices, amounts].map(widest) as [number, number, number]
  const withRemark = (amount: string, remark: string) => (remark ? `${amount.padEnd(amountWidth)}  ${remark}` : amount)
  const entries = lines.map((line, i): Entry => {
    const product = `${counts[i]?.padStart(countWidth)} ${unitOf(line)} × ${prices[i]?.padEnd(priceWidth)}`
    return [line.kind, `${product} = ${withRemark(amounts[i] ?? '', lineRemark(line, row))}`]
  })
  const indent = ' '.repeat(countWidth + ' tokens × '.length + priceWidth + ' = '.length)
  return [...entries, ['charged', indent + withRemark(formatCredits(row.cost), sumRemark(row, sumOf(lines)))]]
}

const UNIT = 'tokens'

function unitOf({ kind }: BillLine): string {
  if (kind === 'request') return ''.padEnd(UNIT.length)
  return kind === 'images' ? 'images' : UNIT
}

function priceText({ kind, pricePico }: BillLine): string {
  return kind === 'request' || kind === 'images'
    ? `${formatPico(pricePico)} each`
    : `${formatPerMillion(pricePico)} per million`
}

function lineRemark({ kind }: BillLine, { promptTokens, cachedTokens }: UsageRow): string {
  if (kind !== 'prompt' || cachedTokens === 0) return ''
  return `${grouped(promptTokens)} prompt tokens less ${grouped(cachedTokens)} cached`
}

function sumRemark(row: UsageRow, pico: bigint): string {
  const exact = formatPico(pico)
  if (row.cost !== expectedCost(row)) {
    return `which does not follow from the lines above, ${exact}: run 'waybill audit --key ${row.keyId}'`
  }
  if (pico > row.hold * 1000n)
    return `capped at what was held: the lines above make ${exact}, and nobody pays more than was held`
  return pico % 1000n === 0n ? '' : `rounded up from ${exact} to 0.000000001`
}

function unpriced(row: UsageRow): Entry[] {
  const version = row.priceVersion === undefined ? '' : ` (version ${row.priceVersion} of the catalog)`
  const why = row.price ? 'the price or the tokens of this row are damaged' : `this row has no price stored${version}`
  const cached = row.cachedTokens === 0 ? '' : `, ${grouped(row.cachedTokens)} of them cached`
  return [
    ['prompt', `${grouped(row.promptTokens)} tokens${cached}`],
    ['completion', `${grouped(row.completionTokens)} tokens`],
    ['charged', `${formatCredits(row.cost)}; ${why}, so it cannot be shown line by line`],
  ]
}

function countedBy({ usageSource, usageRejected, promptTokens, completionTokens }: UsageRow): string {
  if (usageSource === 'upstream') {
    const nothing = promptTokens + completionTokens === 0 ? ': it reported no tokens, and is taken at its word' : ''
    return `the upstream (reported usage)${nothing}`
  }
  if (usageRejected) {
    return 'an estimate with o200k of what was delivered: the upstream reported counts that cannot be true (not whole, negative or beyond what was held for)'
  }
  return usageSource === 'estimate'
    ? 'an estimate with o200k of what was delivered: the upstream reported no usage'
    : 'nobody: nothing was counted, and yet it is charged'
}

function brokenOff({ outcome, cost }: UsageRow): Entry[] {
  if (outcome === 'completed' || outcome === 'refused' || cost === 0n) return []
  return [['', 'the answer broke off; charged is what was delivered of it']]
}

function formatPico(pico: bigint): string {
  return formatDecimal(pico, 12)
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map(({ length }) => length))
}
