import { z } from 'zod'
import { cidrProblem } from '../../gateway/domain/admission/cidr.ts'
import { isPlainLine, plainLine } from '../../gateway/domain/basics/plain-text.ts'
import { MOMENT_WORDS, readMoment } from '../../gateway/domain/basics/time.ts'
import { type Nano, parseCredits, parseSignedCredits } from '../../gateway/domain/money/money.ts'

// Values as people and programs may send them: for the admin API, which reads JSON, and for the command line, which
// makes JSON of texts. A message follows the name of the value: "'rpm' must be …", "It must be …".

/** Far above any balance, far below the numbers that DynamoDB keeps exactly. */
const MOST_CREDITS: Nano = 10n ** 24n
/** Other characters could hide or reverse text in a list of keys. */
const ALL_SEEN = 'on one line, without control characters, marks of direction and invisible ones'

export function maybe<Schema extends z.ZodType>(schema: Schema, words: string) {
  return schema.describe(words).optional()
}

export function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}.`
  return z.int(message).min(least, message).max(most, message)
}

export function line(least: number, most: number) {
  const message = `must have ${least === 0 ? 'at most' : `${least} to`} ${most} characters, ${ALL_SEEN}.`
  return z.string(message).trim().min(least, message).max(most, message).refine(isPlainLine, message)
}

/** A text on one line that may be missing; an empty one is. */
export function someLine(most: number) {
  return line(0, most)
    .transform((text) => text || undefined)
    .optional()
}

export function textLike(pattern: RegExp, what: string) {
  const message = `must be ${what}.`
  return z.string(message).regex(pattern, message)
}

export function oneOf<T extends string>(words: readonly T[]) {
  return z.enum(words, `must be ${words.join(' or ')}.`)
}

export function someOf<T extends string>(words: readonly T[]) {
  const message = (unknown?: unknown) =>
    `must be a list of ${words.join(', ')}${typeof unknown === 'string' ? `, not '${unknown}'` : ''}.`
  const word = z.enum(words, { error: ({ input }) => message(input) })
  return z
    .array(word, message())
    .min(1, message())
    .transform((all) => [...new Set(all)])
}

function uniqueList<Item extends z.ZodType<string>>(item: Item, message: string, most: number, what: string) {
  return z
    .array(item, message)
    .max(most, `may have at most ${most} ${what}.`)
    .transform((all) => [...new Set(all)])
}

/** An empty list allows every address. */
export function cidrList(most: number) {
  const message = 'must be a list of CIDR ranges; an empty one allows every address.'
  const range = z.string(message).refine((text) => !cidrProblem(text), {
    error: ({ input }) => `has '${input}', which ${cidrProblem(String(input))}.`,
  })
  return uniqueList(range, message, most, 'ranges')
}

/** An empty list allows every model. An id of a model that the catalog does not have yet is no mistake. */
export function modelPatterns(most: number, mostChars: number) {
  const message = `must be a list of ids of models and patterns such as claude-*, each of 1 to ${mostChars} letters, digits and . _ : / @ - *; an empty one allows every model.`
  const pattern = z.string(message).max(mostChars, message)
  return uniqueList(pattern.regex(/^[A-Za-z0-9._:/@*-]+$/, message), message, most, 'models')
}

function readBy<T>(read: (text: string) => T | undefined, error: string | ((issue: { input?: unknown }) => string)) {
  return z
    .string({ error })
    .refine((text) => read(text) !== undefined, { error })
    .transform((text) => read(text) as T)
}

function within(nano: Nano | undefined): Nano | undefined {
  return nano !== undefined && nano >= -MOST_CREDITS && nano <= MOST_CREDITS ? nano : undefined
}

const CREDITS = 'must be a plain decimal of at most 9 places, such as 25 or 0.5.'

export const credits = readBy((text) => within(parseCredits(text)), CREDITS)

const CORRECTED = `${CREDITS.slice(0, -1)}, or below zero to correct a grant, such as -5; not 0.`

export const grantedCredits = readBy((text) => within(parseSignedCredits(text) || undefined), CORRECTED)

export const someCredits = credits.refine((nano) => nano > 0n, 'must be more than 0.')

/** In milliseconds. */
export const moment = readBy(
  readMoment,
  ({ input }) => `must be ${MOMENT_WORDS}, but is '${plainLine(String(input), 40)}'.`,
)
