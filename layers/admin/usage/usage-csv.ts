import { formatCredits } from '../../gateway/domain/money.ts'
import { plainText } from '../../gateway/domain/plain-text.ts'
import type { UsageRow } from '../../gateway/domain/usage-row.ts'
import { toUsageItem } from '../../gateway/store/usage/usage-item.ts'
import { attemptText } from '../explain/attempt-text.ts'

/** The columns, in an order that does not change: new ones go to the end. */
const COLUMNS = [
  'requestId',
  'keyId',
  'startedAt',
  'endpoint',
  'outcome',
  'httpStatus',
  'errorCode',
  'model',
  'provider',
  'upstreamModel',
  'fallbackModel',
  'stream',
  'promptTokens',
  'completionTokens',
  'cachedTokens',
  'totalTokens',
  'usageSource',
  'usageRejected',
  'cost',
  'hold',
  'priceVersion',
  'priceInput',
  'priceOutput',
  'priceCachedInput',
  'attempts',
  'ttftMs',
  'durationMs',
  'replayOf',
  'cacheWriteTokens',
  'reasoningTokens',
  'images',
  'usageCapped',
  'upstreamCost',
  'priceCacheWrite',
  'priceRequest',
  'priceImage',
  'estimatedBy',
  'askedMaxTokens',
  'loweredMaxTokens',
  'contract',
  'cacheWrite1hTokens',
  'upstreamCostSource',
  'priceCacheWrite1h',
  'priceAbove',
] as const

const CSV_HEADER = toLine(COLUMNS)

export async function* csvLines(rows: AsyncIterable<UsageRow>): AsyncGenerator<string> {
  yield CSV_HEADER
  for await (const row of rows) yield toCsvLine(row)
}

export function toCsvLine(row: UsageRow): string {
  const { input, output, cachedInput, cacheWrite, cacheWrite1h, request, image, above } = row.price ?? {}
  const cells: Record<string, unknown> = {
    ...toUsageItem(row),
    priceInput: input,
    priceOutput: output,
    priceCachedInput: cachedInput,
    priceCacheWrite: cacheWrite,
    priceCacheWrite1h: cacheWrite1h,
    priceAbove: above,
    priceRequest: request,
    priceImage: image,
    attempts: row.attempts.map(attemptText).join('; '),
  }
  return toLine(COLUMNS.map((name) => cellText(cells[name])))
}

function cellText(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'bigint') return formatCredits(value)
  return typeof value === 'string' ? disarm(plainText(value)) : String(value)
}

/** Some texts come from upstreams and callers, and a spreadsheet would run one that begins like a formula. */
function disarm(text: string): string {
  return /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text
}

/** RFC 4180. */
function toLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`
}
