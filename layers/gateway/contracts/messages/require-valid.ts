import { badField } from '../../wire/basics/bad-field.ts'
import type { Rule } from '../../wire/basics/field-rules.ts'

/** Refuses a value that a rule does not accept. `beside` has the fields beside it. */
export function requireValid(rule: Rule, value: unknown, path: string, beside?: unknown): void {
  const wanted = rule(value)
  if (wanted !== undefined) throw badField(path, wanted, value, beside)
}

export const nonEmptyText: Rule = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'a non-empty string'
