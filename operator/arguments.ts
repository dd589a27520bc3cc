import { InvalidArgumentError } from 'commander'
import { SCOPES, type Scope } from '../layers/gateway/contract.ts'
import { cidrProblem } from '../layers/gateway/domain/cidr.ts'
import { type Nano, parseCredits } from '../layers/gateway/domain/money.ts'

// Each parses one argument, or says what was wrong with it, what was got and what to write.

export function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= least && value <= most) return value
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}

export function credits(text: string): Nano {
  const nano = parseCredits(text)
  if (nano !== undefined && nano <= MOST_CREDITS) return nano
  throw new InvalidArgumentError('It must be a plain decimal of at most 9 places, such as 25 or 0.5.')
}

export function someCredits(text: string): Nano {
  const nano = credits(text)
  if (nano > 0n) return nano
  throw new InvalidArgumentError('It must be more than 0.')
}

/** Far above any balance, far below what DynamoDB counts exactly. */
const MOST_CREDITS: Nano = 10n ** 24n

export function scopeList(text: string): Scope[] {
  const scopes = listOf(text)
  const unknown = scopes.find((scope) => !SCOPES.includes(scope as Scope))
  if (unknown !== undefined || scopes.length === 0) {
    throw new InvalidArgumentError(`It must be a list of ${SCOPES.join(', ')}${unknown ? `, not '${unknown}'` : ''}.`)
  }
  return [...new Set(scopes)] as Scope[]
}

/** An empty text means every address. */
export function cidrList(text: string): string[] {
  const ranges = listOf(text)
  for (const range of ranges) {
    const problem = cidrProblem(range)
    if (problem) throw new InvalidArgumentError(`'${range}' ${problem}.`)
  }
  if (ranges.length > 100) throw new InvalidArgumentError('It may have at most 100 ranges.')
  return [...new Set(ranges)]
}

export function keyName(text: string): string {
  if (text.trim() !== '' && text.length <= 100) return text.trim()
  throw new InvalidArgumentError('It must have 1 to 100 characters.')
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** How long ago, in milliseconds. */
export function period(text: string): number {
  const match = /^(\d{1,5})([mhd])$/.exec(text)
  if (!match) throw new InvalidArgumentError('It must be a period such as 30m, 24h or 7d.')
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/

/** A UTC day, which is its first moment, or a moment, in milliseconds. */
export function moment(text: string): number {
  const day = MOMENT.exec(text)?.[1]
  const ms = Date.parse(text)
  // JavaScript takes 30 February for 2 March.
  if (day && ms >= 0 && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)) return ms
  throw new InvalidArgumentError('It must be a UTC day such as 2026-11-01, or a moment such as 2026-11-01T12:30:00Z.')
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
