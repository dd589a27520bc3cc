const MILLION_PLACES = 6

/** By its digits, because a price may have more of them than a number. */
export function perMillion(price: string): string {
  const [whole = '0', fraction = ''] = price.split('.')
  const digits = fraction.padEnd(MILLION_PLACES, '0')
  const [before, after] = [whole + digits.slice(0, MILLION_PLACES), digits.slice(MILLION_PLACES)]
  return `${before.replace(/^0+(?=\d)/, '')}${after && `.${after}`}`
}
