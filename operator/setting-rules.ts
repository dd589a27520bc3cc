import { cidrProblem } from '../layers/gateway/domain/cidr.ts'
import type { KeySettings } from '../layers/gateway/domain/key-settings.ts'
import { type Nano, parseCredits } from '../layers/gateway/domain/money.ts'
import { isPlainLine } from '../layers/gateway/domain/plain-text.ts'
import { SCOPES, type Scope } from '../layers/gateway/endpoints.ts'

// The settings of a key as people may choose them: for the command line, which reads texts, and for the admin API, which
// reads JSON. Each takes what was given, or says what it must be.

/** A value that is not allowed. The message says what to write, and goes on after the name of what was given. */
export class WrongValue extends Error {
  override readonly name = 'WrongValue'
}

type Rule<T> = (value: unknown) => T

/** Far above any balance, far below what DynamoDB counts exactly. */
const MOST_CREDITS: Nano = 10n ** 24n
const MOST_RANGES = 100
/** Others could hide or turn round what a list of keys shows. */
const ALL_SEEN = 'on one line, without control characters, marks of direction and invisible ones'

export function wholeNumberIn(least: number, most: number): Rule<number> {
  return (value) => {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number
    throw new WrongValue(`must be a whole number from ${least} to ${most}.`)
  }
}

/** The end of a key is read by each in its own way: an operator may name a period, a program only a moment. */
export const SETTING_RULES = {
  name: (value) => {
    const trimmed = typeof value === 'string' ? value.trim() : ''
    if (trimmed !== '' && trimmed.length <= 100 && isPlainLine(trimmed)) return trimmed
    throw new WrongValue(`must have 1 to 100 characters, ${ALL_SEEN}.`)
  },
  scopes: (value) => {
    const scopes = textsIn(value)
    const unknown = scopes?.find((scope) => !SCOPES.includes(scope as Scope))
    if (!scopes || unknown !== undefined || scopes.length === 0) {
      throw new WrongValue(`must be a list of ${SCOPES.join(', ')}${unknown ? `, not '${unknown}'` : ''}.`)
    }
    return [...new Set(scopes)] as Scope[]
  },
  allowlist: (value) => {
    const ranges = textsIn(value)
    if (!ranges) throw new WrongValue('must be a list of CIDR ranges; an empty one allows every address.')
    for (const range of ranges) {
      const problem = cidrProblem(range)
      if (problem) throw new WrongValue(`has '${range}', which ${problem}.`)
    }
    if (ranges.length > MOST_RANGES) throw new WrongValue(`may have at most ${MOST_RANGES} ranges.`)
    return [...new Set(ranges)]
  },
  rpm: wholeNumberIn(1, 60_000),
  dailyLimit: wholeNumberIn(1, 1_000_000_000),
  maxConcurrent: wholeNumberIn(1, 1_000),
  externalId: (value) => {
    if (typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value)) return value
    throw new WrongValue('must have 1 to 128 letters, digits and signs of ASCII, without spaces.')
  },
  note: (value) => {
    const trimmed = typeof value === 'string' ? value.trim() : undefined
    if (trimmed !== undefined && trimmed.length <= 200 && isPlainLine(trimmed)) return trimmed
    throw new WrongValue(`must have at most 200 characters, ${ALL_SEEN}.`)
  },
} as const satisfies { [Setting in Exclude<keyof KeySettings, 'expiresAtMs'>]: Rule<KeySettings[Setting]> }

export const creditsRule: Rule<Nano> = (value) => {
  const nano = typeof value === 'string' ? parseCredits(value) : undefined
  if (nano !== undefined && nano <= MOST_CREDITS) return nano
  throw new WrongValue('must be a plain decimal of at most 9 places, such as 25 or 0.5.')
}

export const someCreditsRule: Rule<Nano> = (value) => {
  const nano = creditsRule(value)
  if (nano > 0n) return nano
  throw new WrongValue('must be more than 0.')
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/

/** A UTC day, which is its first moment, or a moment, in milliseconds. */
export const momentRule: Rule<number> = (value) => {
  const ms = typeof value === 'string' ? readMoment(value) : undefined
  if (ms !== undefined) return ms
  throw new WrongValue('must be a UTC day such as 2026-11-01, or a moment such as 2026-11-01T12:30:00Z.')
}

export function readMoment(text: string): number | undefined {
  const day = MOMENT.exec(text)?.[1]
  const ms = Date.parse(text)
  // JavaScript takes 30 February for 2 March.
  return day && ms >= 0 && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? ms : undefined
}

/** The end of a key, which a key that has ended cannot be given. */
export function laterThan(nowMs: number, ms: number): number {
  if (ms > nowMs) return ms
  throw new WrongValue(`must be later than now, but ${new Date(ms).toISOString()} is not.`)
}

function textsIn(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}
