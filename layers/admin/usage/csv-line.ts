import { plainText } from '../../gateway/domain/basics/plain-text.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'

/** A line of RFC 4180. Amounts are bigints of nanocredits. */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map(cellText)
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'bigint') return formatCredits(value)
  return typeof value === 'string' ? disarmed(value) : String(value)
}

/** Some texts come from upstreams and callers, and a spreadsheet would run one that begins like a formula. An amount below zero, and a lone minus, is none. */
function disarmed(text: string): string {
  const plain = plainText(text)
  return !/^-?[\d.]*$/.test(plain) && /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(plain) ? `'${plain}` : plain
}
