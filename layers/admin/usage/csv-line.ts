import { plainText } from '../../gateway/domain/basics/plain-text.ts'

/** Some texts come from upstreams and callers, and a spreadsheet would run one that begins like a formula. */
export function disarmed(text: string): string {
  const plain = plainText(text)
  return /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(plain) ? `'${plain}` : plain
}

/** RFC 4180. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`
}
