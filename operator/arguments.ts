import { InvalidArgumentError } from 'commander'
import { ADMIN_SCOPES, type AdminScope } from '../layers/gateway/domain/admin-key.ts'
import type { Nano } from '../layers/gateway/domain/money.ts'
import type { Scope } from '../layers/gateway/endpoints.ts'
import {
  creditsRule,
  momentRule,
  readMoment,
  SETTING_RULES,
  someCreditsRule,
  WrongValue,
  wholeNumberIn,
} from './setting-rules.ts'

// Each parses one argument, or says what was wrong with it, what was got and what to write.

export function wholeNumber(least: number, most: number): (text: string) => number {
  return numberBy(wholeNumberIn(least, most))
}

export const requestsPerMinute = numberBy(SETTING_RULES.rpm)
export const requestsPerDay = numberBy(SETTING_RULES.dailyLimit)
export const requestsAtOnce = numberBy(SETTING_RULES.maxConcurrent)

export const credits: (text: string) => Nano = argument(creditsRule)
export const someCredits: (text: string) => Nano = argument(someCreditsRule)
export const keyName: (text: string) => string = argument(SETTING_RULES.name)

export const scopeList: (text: string) => Scope[] = argument((text) => SETTING_RULES.scopes(listOf(text)))
/** An empty text means every address. */
export const cidrList: (text: string) => string[] = argument((text) => SETTING_RULES.allowlist(listOf(text)))

/** At least one. */
export const someCidrs: (text: string) => string[] = argument((text) => {
  const ranges = SETTING_RULES.allowlist(listOf(text))
  if (ranges.length > 0) return ranges
  throw new WrongValue('must name at least one CIDR range: an admin key does not work from everywhere.')
})

export const adminScopeList: (text: string) => AdminScope[] = argument((text) => {
  const scopes = listOf(text)
  const unknown = scopes.find((scope) => !ADMIN_SCOPES.includes(scope as AdminScope))
  if (unknown === undefined && scopes.length > 0) return [...new Set(scopes)] as AdminScope[]
  throw new WrongValue(`must be a list of ${ADMIN_SCOPES.join(', ')}${unknown ? `, not '${unknown}'` : ''}.`)
})

/** The operator's own id of its customer; an empty one takes it away. */
export const externalId: (text: string) => string = argument((text) => text && SETTING_RULES.externalId(text))
/** To look for: an empty one is nobody's. */
export const someExternalId: (text: string) => string = argument(SETTING_RULES.externalId)
/** An empty one takes it away. */
export const note: (text: string) => string = argument(SETTING_RULES.note)

/** A UTC day, which is its first moment, or a moment, in milliseconds. */
export const moment: (text: string) => number = argument(momentRule)

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

/** The same rule as the admin API's, in the words of the command line. */
function argument<T>(rule: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return rule(text)
    } catch (error) {
      throw error instanceof WrongValue ? new InvalidArgumentError(`It ${error.message}`) : error
    }
  }
}

function numberBy(rule: (value: unknown) => number): (text: string) => number {
  return argument((text) => rule(/^\d+$/.test(text) ? Number(text) : text))
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
