import type { z } from 'zod'
import { described } from '../layers/gateway/wire/bad-field.ts'
import { closest } from '../layers/gateway/wire/closest.ts'
import { describe } from '../layers/gateway/wire/field-rules.ts'

const KINDS: Readonly<Record<string, string>> = {
  ...{ string: 'a string', number: 'a number', int: 'a whole number', boolean: 'true or false' },
  ...{ object: 'an object', record: 'an object', array: 'an array' },
}
const FORMATS: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'an address such as https://example.com/page',
}
/** Of what a value that is too small or too big has too few or too many. */
const COUNTED: Readonly<Record<string, string>> = { string: ' characters', array: ' elements' }
const MOST_NAMES = 12
const LONGEST_NAME = 100

/** How `safeParse` tells a fault in an operator's file for which a schema has no words of its own: they follow a path. */
export const FAULT_WORDS = { error: wordsOf }

function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue
  switch (issue.code) {
    case 'invalid_type':
      return must(KINDS[issue.expected] ?? `of the type ${issue.expected}`)
    case 'invalid_value':
      return oneOf(issue.values, input)
    case 'invalid_union':
      return issue.discriminator && chosen(issue.discriminator)
    case 'invalid_format':
      return FORMATS[issue.format] && must(FORMATS[issue.format] ?? '')
    case 'invalid_key':
      return `its name ${issue.issues[0]?.message}`
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty'
      return bound(issue.inclusive === false ? 'more than' : 'at least', issue.minimum, issue.origin)
    case 'too_big':
      return bound(issue.inclusive === false ? 'less than' : 'at most', issue.maximum, issue.origin)
    case 'unrecognized_keys':
      return issue.keys.map((name) => noSuchField(name, knownIn(issue.inst))).join('; ')
  }
  return undefined

  function must(be: string): string {
    return `must be ${be}, but ${describe(input)}`
  }

  /** By the one word by which a union chooses. */
  function chosen(name: string): string {
    const { propValues } = (issue.inst as z.core.$ZodDiscriminatedUnion)._zod
    return oneOf([...(propValues[name] ?? [])], (input as Readonly<Record<string, unknown>>)[name])
  }

  function bound(words: string, number: number | bigint, origin: string): string {
    const unit = COUNTED[origin]
    if (unit !== undefined) return `must have ${words} ${number}${unit}`
    return must(`${words} ${number}`)
  }
}

function oneOf(values: readonly unknown[], got: unknown): string {
  const wanted = values.filter((value) => value !== undefined)
  const listed = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(wanted.map((one) => JSON.stringify(one)))
  return `must be ${listed}, but ${described(wanted.map(String), got).replace(/\.$/, '')}`
}

function knownIn(schema: unknown): readonly string[] {
  const { shape } = schema as { readonly shape?: object }
  return Object.keys(shape ?? {})
}

function noSuchField(name: string, known: readonly string[]): string {
  const near = closest(name, known)
  const there = known.length <= MOST_NAMES && known.length > 0 ? ` (there are: ${known.join(', ')})` : ''
  return `there is no field '${name.slice(0, LONGEST_NAME)}' here${near === undefined ? there : `; did you mean '${near}'?`}`
}
