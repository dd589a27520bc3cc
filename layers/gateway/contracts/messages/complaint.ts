import { GatewayError } from '../../domain/gateway-error.ts'
import { describe, type Rule } from '../../wire/field-rules.ts'

/** A refusal that names the place and what should be there, and never quotes what is. */
export function complaint(path: string, wanted: string, got: unknown): GatewayError {
  return new GatewayError('invalid_request', `'${path}' must be ${wanted}, but ${describe(got)}.`, { param: path })
}

/** Refuses a value that a rule does not accept. */
export function require(rule: Rule, value: unknown, path: string): void {
  const wanted = rule(value)
  if (wanted !== undefined) throw complaint(path, wanted, value)
}

/** A text, which may not be empty. */
export const name: Rule = (value) => (typeof value === 'string' && value !== '' ? undefined : 'a non-empty string')

/** One of these words. */
export const oneOf =
  (...words: readonly string[]): Rule =>
  (value) =>
    words.includes(value as string) ? undefined : `one of ${words.join(', ')}`
