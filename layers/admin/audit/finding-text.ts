import { formatCredits } from '../../gateway/domain/money.ts'
import type { Finding } from './findings.ts'

export function findingText({ requestId, what, expected, got, advice }: Finding) {
  const about = requestId ?? 'the key'
  const compared = expected === undefined ? '' : `: expected ${textOf(expected)}, got ${textOf(got)}`
  const sentence = `${what}${compared}.`
  return { about, text: advice ? `${sentence} ${advice}` : sentence }
}

function textOf(value: Finding['got']): string {
  return typeof value === 'bigint' ? formatCredits(value) : String(value)
}
