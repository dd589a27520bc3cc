const AMOUNT = /^(-?)(\d+)(?:\.(\d+))?$/

/** The order of two amounts, by their digits. */
export function compareCredits(a: string, b: string): number {
  const [x, y] = [nano(a), nano(b)]
  return x < y ? -1 : x > y ? 1 : 0
}

function nano(amount: string): bigint {
  const [, sign = '', whole = '0', part = ''] = AMOUNT.exec(amount) ?? []
  return BigInt(`${sign}${whole}${part.padEnd(12, '0')}`)
}
