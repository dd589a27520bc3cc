import type { z } from 'zod'
import { AdminError } from './admin-error.ts'

/** A body by its schema. An unknown field is refused, so that no typing error is passed over. */
export function readBody<S extends z.ZodObject>(schema: S, body: Readonly<Record<string, unknown>>): z.output<S> {
  const known = Object.keys(schema.shape)
  const unknown = Object.keys(body).find((name) => !known.includes(name))
  if (unknown !== undefined) throw unknownField(unknown, known)
  const { data, error } = schema.safeParse(body)
  if (!error) return data
  const [name, message] = faultIn(error)
  throw wrong(name, body[name] === undefined ? 'is missing.' : message)
}

/** One value by its rule. */
export function checked<T>(name: string, rule: z.ZodType<T>, value: unknown): T {
  const { data, error } = rule.safeParse(value)
  if (error) throw wrong(name, faultIn(error)[1])
  return data
}

export function required<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw wrong(name, 'is missing.')
  return value
}

function faultIn({ issues: [first] }: z.ZodError): [name: string, message: string] {
  return [String(first?.path[0]), first?.message ?? '']
}

/** The message goes on after the name. */
export function wrong(name: string, message: string): AdminError {
  return new AdminError('invalid_request', `'${name}' ${message}`, { param: name })
}

function unknownField(name: string, known: readonly string[]): AdminError {
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name
  const there = known.length > 0 ? `There are: ${known.join(', ')}.` : 'There are none.'
  return new AdminError('invalid_request', `There is no field '${shown}' here. ${there}`, { param: shown })
}
