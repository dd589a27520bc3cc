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

/** The operator's own id of its customer; an empty one takes it away. */
export function externalId(text: string): string {
  if (/^[\x21-\x7e]{0,128}$/.test(text)) return text
  throw new InvalidArgumentError('It must have 1 to 128 letters, digits and signs of ASCII, without spaces.')
}

/** An empty one takes it away. */
export function note(text: string): string {
  const trimmed = text.trim()
  // A sign that moves the cursor could hide what a list of keys shows.
  if (trimmed.length <= 200 && !/\p{Cc}/u.test(trimmed)) return trimmed
  throw new InvalidArgumentError('It must have at most 200 characters, on one line.')
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** How long ago, in milliseconds. */
export function period(text: string): number {
  const ms = readPeriod(text)
  if (ms !== undefined) return ms
  throw new InvalidArgumentError('It must be a period such as 30m, 24h or 7d.')
}

function readPeriod(text: string): number | undefined {
  const match = /^(\d{1,5})([mhd])$/.exec(text)
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : undefined
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/

/** A UTC day, which is its first moment, or a moment, in milliseconds. */
export function moment(text: string): number {
  const ms = readMoment(text)
  if (ms !== undefined) return ms
  throw new InvalidArgumentError('It must be a UTC day such as 2026-11-01, or a moment such as 2026-11-01T12:30:00Z.')
}

function readMoment(text: string): number | undefined {
  const day = MOMENT.exec(text)?.[1]
  const ms = Date.parse(text)
  // JavaScript takes 30 February for 2 March.
  return day && ms >= 0 && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? ms : undefined
}

/** When a key ends: at a moment, after a period, or never. */
export type End = { readonly atMs: number } | { readonly inMs: number } | 'never'

export function keyEnd(text: string): End {
  if (text === 'never') return text
  const [inMs, atMs] = [readPeriod(text), readMoment(text)]
  if (inMs !== undefined) return { inMs }
  if (atMs !== undefined) return { atMs }
  throw new InvalidArgumentError(
    "It must be a UTC day such as 2027-01-01, a moment such as 2027-01-01T12:30:00Z, a period such as 30d, or 'never'.",
  )
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
