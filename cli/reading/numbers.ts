import { readMoment } from '../../layers/gateway/domain/basics/time.ts'

// Numbers and moments of other programs, which are texts here, because a float would change amounts.

/** Longer numbers are no amounts, and would be work without a bound. */
const NUMBER = /^(-?)(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/

/** A number as an integer with `places` implied decimals, rounded up; undefined if the text is none that an amount can be. */
export function scaledNumber(text: string | undefined, places: number): bigint | undefined {
  const match = NUMBER.exec(text ?? '')
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(`${sign}${whole}${fraction}`)
  const shift = places + Number(exponent) - fraction.length
  return shift >= 0 ? digits * 10n ** BigInt(shift) : dividedUp(digits, 10n ** BigInt(-shift))
}

/** Division of BigInts rounds towards zero, which is up for negative ones already. */
export function dividedUp(value: bigint, by: bigint): bigint {
  return value / by + (value > 0n && value % by !== 0n ? 1n : 0n)
}

/** A whole number from `least`, which is no less than 0, to `most`, however it is written; undefined if it is none. */
export function wholeNumberIn(text: string | undefined, least: number, most: number): number | undefined {
  const scaled = scaledNumber(text, 12) ?? -1n
  const whole = scaled / 10n ** 12n
  return scaled % 10n ** 12n === 0n && whole >= least && whole <= most ? Number(whole) : undefined
}

/** A moment as other programs write it: with a blank before its time, with any fraction, and in UTC if it has no zone. */
export function looseMoment(text: string): number | undefined {
  const iso = text
    .replace(/^(\S+) (?=\d)/, '$1T')
    .replace(/(\.\d{3})\d{1,6}(?!\d)/, '$1')
    .replace(/ ?UTC$/, 'Z')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
  return readMoment(/T[\d:.]+$/.test(iso) ? `${iso}Z` : iso)
}
