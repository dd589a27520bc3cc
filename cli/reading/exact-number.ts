/** Longer numbers are no amounts, and would be work without a bound. */
const NUMBER = /^(-?)(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/

/** A number of a text as an integer with `places` implied decimals, rounded up; undefined if it is none, or none that an amount can be. */
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

/** A whole number from `least` to `most`, however it is written; undefined if it is none. */
export function wholeNumberIn(text: string | undefined, least: number, most: number): number | undefined {
  const [scaled, up] = [scaledNumber(text, 0), scaledNumber(text?.startsWith('-') ? undefined : text, 12)]
  if (scaled === undefined || up !== scaled * 10n ** 12n) return undefined
  return scaled >= least && scaled <= most ? Number(scaled) : undefined
}
