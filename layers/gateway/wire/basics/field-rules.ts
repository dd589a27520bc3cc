/** The value that a field should have: described, or one of these words. */
export type Wanted = string | readonly string[]

/** The value that a field should have; undefined if it has it. Absent and null are always accepted. */
export type Rule = (value: unknown) => Wanted | undefined

/** JSON Schema of the values that are accepted, null aside. A function with a schema may stand in place of one. */
export type Schema = { readonly [keyword: string]: unknown }
export type WithSchema = { readonly schema: Schema }
export type FieldRule = Rule & WithSchema

/** Only docs/openapi.json is made of the schema; requests are read by the function. */
export function withSchema<Read extends object>(schema: Schema, read: Read): Read & WithSchema {
  return Object.assign(read, { schema })
}

export function wantedText(wanted: Wanted): string {
  if (typeof wanted === 'string') return wanted
  return wanted.length === 1 ? `'${wanted[0]}'` : `one of ${wanted.join(', ')}`
}

export const oneOf = (...words: readonly string[]): FieldRule =>
  withSchema({ type: 'string', enum: words }, (value: unknown) => (words.includes(value as string) ? undefined : words))

export const number = (minimum: number, maximum: number): FieldRule =>
  withSchema({ type: 'number', minimum, maximum }, (value: unknown) =>
    typeof value === 'number' && value >= minimum && value <= maximum
      ? undefined
      : `a number between ${minimum} and ${maximum}`,
  )

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER): FieldRule =>
  withSchema({ type: 'integer', minimum, maximum }, (value: unknown) => {
    if (Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum) return undefined
    return maximum === Number.MAX_SAFE_INTEGER
      ? `an integer of at least ${minimum}`
      : `an integer between ${minimum} and ${maximum}`
  })

export const boolean: FieldRule = withSchema({ type: 'boolean' }, (value: unknown) =>
  typeof value === 'boolean' ? undefined : 'true or false',
)

export const string: FieldRule = withSchema({ type: 'string' }, (value: unknown) =>
  typeof value === 'string' ? undefined : 'a string',
)

export const object: FieldRule = withSchema({ type: 'object' }, (value: unknown) =>
  isObject(value) ? undefined : 'an object',
)

export const arrayOf = (items: FieldRule): FieldRule =>
  withSchema({ type: 'array', items }, (value: unknown) => {
    if (!Array.isArray(value)) return 'an array'
    const bad = value.findIndex((element) => items(element) !== undefined)
    return bad < 0 ? undefined : `an array whose element ${bad} is ${wantedText(items(value[bad]) ?? '')}`
  })

export const either = (...anyOf: readonly FieldRule[]): FieldRule =>
  withSchema({ anyOf }, (value: unknown) => {
    const wanted = anyOf.map((rule) => rule(value))
    return wanted.includes(undefined) ? undefined : wanted.map((each) => wantedText(each ?? '')).join(' or ')
  })

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
