import type { z } from 'zod'
import { closest } from '../gateway/wire/basics/closest.ts'
import { describe, described } from '../gateway/wire/basics/field-rules.ts'

const KINDS: Readonly<Record<string, string>> = {
  ...{ string: 'a string', number: 'a number', int: 'a whole number', boolean: 'true or false' },
  ...{ object: 'an object', record: 'an object', array: 'an array' },
}
const FORMATS: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'an address such as https://example.com/page',
}
/** The unit of a bound, by the kind of value. */
const COUNTED: Readonly<Record<string, string>> = { string: ' characters', array: ' elements' }
/** The most names that a message lists: a file may have any number of them. */
const MOST_KNOWN = 12
const MOST_UNKNOWN = 5
const LONGEST_NAME = 100

/** The words, behind a path, for faults for which a schema has none of its own; `safeParse` takes it. */
export const FAULT_WORDS = { error: wordsOf }

function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue
  const format = issue.code === 'invalid_format' ? FORMATS[issue.format] : undefined
  if (format) return must(format)
  if (issue.code === 'invalid_type') return must(KINDS[issue.expected] ?? `of the type ${issue.expected}`)
  if (issue.code === 'invalid_value') return oneOf(issue.values, input)
  if (issue.code === 'invalid_union') return issue.discriminator && chosen(issue.discriminator)
  if (issue.code === 'invalid_key') return `its name ${issue.issues[0]?.message}`
  if (issue.code === 'too_small') {
    if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty'
    return bound(issue.inclusive === false ? 'more than' : 'at least', issue.minimum, issue.origin)
  }
  if (issue.code === 'too_big') {
    return bound(issue.inclusive === false ? 'less than' : 'at most', issue.maximum, issue.origin)
  }
  return issue.code === 'unrecognized_keys' ? noSuchFields(issue.keys, issue.inst) : undefined

  function must(be: string): string {
    return `must be ${be}, but ${describe(input)}`
  }

  /** `name` is the field by which a union chooses. */
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

function noSuchFields(names: readonly string[], schema: unknown): string {
  const { shape = {} } = schema as { readonly shape?: object }
  const told = names.slice(0, MOST_UNKNOWN).map((name) => noSuchField(name, Object.keys(shape)))
  return [...told, ...(names.length > told.length ? [`and so with ${names.length - told.length} more`] : [])].join('; ')
}

function noSuchField(name: string, known: readonly string[]): string {
  const near = closest(name, known)
  const there = known.length <= MOST_KNOWN && known.length > 0 ? ` (there are: ${known.join(', ')})` : ''
  return `there is no field '${name.slice(0, LONGEST_NAME)}' here${near === undefined ? there : `; did you mean '${near}'?`}`
}
