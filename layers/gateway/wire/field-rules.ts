/** The value that a field should have: described, or one of these words. */
export type Wanted = string | readonly string[]

/** The value that a field should have; undefined if it has it. Absent and null are always accepted. */
export type Rule = (value: unknown) => Wanted | undefined

export function wantedText(wanted: Wanted): string {
  if (typeof wanted === 'string') return wanted
  return wanted.length === 1 ? `'${wanted[0]}'` : `one of ${wanted.join(', ')}`
}

export const oneOf =
  (...words: readonly string[]): Rule =>
  (value) =>
    words.includes(value as string) ? undefined : words

export const number =
  (least: number, most: number): Rule =>
  (value) =>
    typeof value === 'number' && value >= least && value <= most ? undefined : `a number between ${least} and ${most}`

export const integer =
  (least: number, most = Number.MAX_SAFE_INTEGER): Rule =>
  (value) => {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return undefined
    return most === Number.MAX_SAFE_INTEGER
      ? `an integer of at least ${least}`
      : `an integer between ${least} and ${most}`
  }

export const boolean: Rule = (value) => (typeof value === 'boolean' ? undefined : 'true or false')

export const string: Rule = (value) => (typeof value === 'string' ? undefined : 'a string')

export const object: Rule = (value) => (isObject(value) ? undefined : 'an object')

export const arrayOf =
  (rule: Rule, most = Number.POSITIVE_INFINITY): Rule =>
  (value) => {
    const size = most === Number.POSITIVE_INFINITY ? '' : ` of at most ${most} elements`
    if (!Array.isArray(value) || value.length > most) return `an array${size}`
    const bad = value.findIndex((element) => rule(element) !== undefined)
    return bad < 0 ? undefined : `an array${size} whose element ${bad} is ${wantedText(rule(value[bad]) ?? '')}`
  }

export const either =
  (one: Rule, other: Rule): Rule =>
  (value) => {
    const wanted = [one, other].map((rule) => rule(value))
    return wanted.includes(undefined) ? undefined : wanted.map((each) => wantedText(each ?? '')).join(' or ')
  }

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** True if a value from outside is nested deeper than this many levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const name in value) if (isDeeper((value as Record<string, unknown>)[name], levels - 1)) return true
  return false
}

/** Describes the value that came, without repeating text that may be a prompt. */
export function describe(value: unknown): string {
  if (value === undefined) return 'it is missing'
  if (value === null) return 'got null'
  if (typeof value === 'number' || typeof value === 'boolean') return `got ${value}`
  if (typeof value === 'string') return describeText(value)
  if (Array.isArray(value))
    return value.length === 0 ? 'got an empty array' : `got an array of ${value.length} elements`
  return 'got an object'
}

/** A number or a flag in quotes is no prompt. */
const QUOTED = /^(?:-?\d{1,10}(?:\.\d{1,10})?|true|false)$/i

function describeText(text: string): string {
  if (text === '') return 'got an empty string'
  return QUOTED.test(text) ? `got the string '${text}'` : `got a string of ${text.length} characters`
}
