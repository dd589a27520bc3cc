import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { formatCredits, parseSignedCredits } from '../../layers/gateway/domain/money/money.ts'

// Numbers and times as they are told, and put in order. An amount may have more digits than a number, so its digits are worked with.

export function sumOf<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0)
}

/** Whole; two digits after the point; or four from the first that is not zero. Made once: making one takes longer than all the rest. */
const [WHOLE, ...SHORT] = [
  {},
  { minimumFractionDigits: 2, maximumFractionDigits: 2 },
  { maximumSignificantDigits: 4 },
].map((digits) => new Intl.NumberFormat('en-US', digits)) as [Intl.NumberFormat, Intl.NumberFormat, Intl.NumberFormat]

export function counted(count: number): string {
  return WHOLE.format(count)
}

export function countOf(count: number, unit: string): string {
  return `${counted(count)} ${unit}${count === 1 ? '' : 's'}`
}

/** `4 ms`, `0.42 s` or `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.floor(ms / 1000) % 60} s`
}

export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** `1,234.56`, `0.1754` or `0.00002`. */
export function shortAmount(amount: string): string {
  if (Number(amount) === 0) return '0'
  const [whole = '', small = ''] = SHORT.map((form) => form.format(amount as Intl.StringNumericLiteral))
  return Math.abs(Number(amount)) < 1 && small.length > whole.length ? small : whole
}

const nanoOf = (amount: string) => parseSignedCredits(amount) ?? 0n

export function sumCredits(amounts: readonly string[]): string {
  return formatCredits(amounts.reduce((sum, amount) => sum + nanoOf(amount), 0n))
}

export function compareCredits(a: string, b: string): number {
  const [x, y] = [nanoOf(a), nanoOf(b)]
  return x < y ? -1 : x > y ? 1 : 0
}

const MILLION_PLACES = 6

/** The price of a million tokens, by the price of one. The ledger’s parser would make the owners’ page too large. */
export function perMillion(price: string): string {
  const [whole = '0', fraction = ''] = price.split('.')
  const digits = fraction.padEnd(MILLION_PLACES, '0')
  const [before, after] = [whole + digits.slice(0, MILLION_PLACES), digits.slice(MILLION_PLACES)]
  return `${before.replace(/^0+(?=\d)/, '')}${after && `.${after}`}`
}

/** The ticks of an axis from 0: at most five, at 1, 2 or 5 times a power of ten; whole ones for counts. */
export function ticksTo(most: number, isWhole = false): number[] {
  if (!(most > 0)) return [0, 1]
  const power = Math.max(isWhole ? 1 : 0, 10 ** Math.floor(Math.log10(most / 4)))
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => most / size <= 4) ?? 10 * power
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step)
}

const SUFFIXES = Object.entries({ ' G': 1e9, ' M': 1e6, ' k': 1e3 })

/** `1.5 k`, `250` or `0.004`, without the noise of a float. */
export function tickText(value: number): string {
  const [suffix, size] = SUFFIXES.find(([, least]) => value >= least) ?? ['', 1]
  return `${Number((value / size).toPrecision(3))}${suffix}`
}

const WEEK = 7
const YEAR = 365

/** How long a balance lasts at the rate of the last week of these days: an estimate, for which an amount may be a float. */
export function lastsText(available: string, all: readonly { day: string; cost: string | number }[], nowMs: number) {
  if (Number(available) <= 0) return 'No credits left: requests are refused.'
  const days = all.slice(-WEEK)
  const cost = sumOf(days, (day) => Number(day.cost))
  const beginMs = Date.parse(days[0]?.day ?? '')
  if (!(cost > 0) || !(nowMs > beginMs)) return 'Nothing was charged in the last week.'
  return `Lasts ${lengthText((Number(available) / cost) * ((nowMs - beginMs) / DAY_MS))} at the last week’s rate.`
}

function lengthText(days: number): string {
  if (days > YEAR) return 'more than a year'
  if (days < 1) return `about ${countOf(Math.max(1, Math.round(days * 24)), 'hour')}`
  return `about ${countOf(Math.round(days), 'day')}`
}
