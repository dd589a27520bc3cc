/** The ledger's unit: one thousand-millionth of a credit. */
export type Nano = bigint

const ZERO = 48
const DECIMAL = /^(0|[1-9]\d*)(?:\.(\d+))?$/

/** A plain decimal as an integer with `places` implied decimals; undefined if it is not one or has more places. */
export function parseDecimal(text: string, places: number): bigint | undefined {
  const match = DECIMAL.exec(text)
  if (!match) return undefined
  const fraction = match[2] ?? ''
  if (fraction.length > places) return undefined
  return BigInt(`${match[1]}${fraction.padEnd(places, '0')}`)
}

export function formatDecimal(value: bigint, places: number): string {
  const negative = value < 0n
  const digits = (negative ? -value : value).toString().padStart(places + 1, '0')
  const point = digits.length - places
  let end = digits.length
  while (end > point && digits.charCodeAt(end - 1) === ZERO) end -= 1
  const fraction = end > point ? `.${digits.slice(point, end)}` : ''
  return `${negative ? '-' : ''}${digits.slice(0, point)}${fraction}`
}

export function parseCredits(text: string): Nano | undefined {
  return parseDecimal(text, 9)
}

export function parseSignedCredits(text: string): Nano | undefined {
  if (!text.startsWith('-')) return parseCredits(text)
  const amount = parseCredits(text.slice(1))
  return amount ? -amount : undefined
}

export function formatCredits(nano: Nano): string {
  return formatDecimal(nano, 9)
}
