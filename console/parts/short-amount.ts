/** The digits after the point that an amount of one credit and more has. */
const DECIMALS = 2
/** The digits that a smaller amount has, from its first that is not zero. */
const SIGNIFICANT = 4

/** `1,234.56`, `0.1754` or `0.00002`: rounded by its digits, because an amount may have more of them than a number. */
export function shortAmount(amount: string): string {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? []
  if (/^0*$/.test(whole + fraction)) return '0'
  const kept = /^0*$/.test(whole) ? fraction.search(/[1-9]/) + SIGNIFICANT : DECIMALS
  const digits = rounded(whole + fraction.padEnd(kept + 1, '0').slice(0, kept + 1)).padStart(kept + 1, '0')
  const [before, after] = [digits.slice(0, -kept), digits.slice(-kept)]
  const shown = kept === DECIMALS ? after : after.replace(/0+$/, '').padEnd(DECIMALS, '0')
  return `${sign}${grouped(before)}.${shown}`
}

/** Without its last digit. */
function rounded(digits: string): string {
  return String((BigInt(digits) + 5n) / 10n)
}

/** In thousands, without a formatter, which takes longer than all the rest. */
function grouped(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '').replace(/\B(?=(\d{3})+$)/g, ',')
}
