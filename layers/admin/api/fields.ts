import type { z } from 'zod'
import { FAULT_WORDS } from '../../catalog/fault-words.ts'
import { closest } from '../../gateway/wire/basics/closest.ts'
import { AdminError } from './admin-error.ts'

/** Reads a query or a body by its schema. An unknown field is refused, so that no typing error goes unnoticed. */
export function readFields<S extends z.ZodObject>(schema: S, fields: Readonly<Record<string, unknown>>): z.output<S> {
  const { data, error } = schema.safeParse(fields, FAULT_WORDS)
  if (!error) return data
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') throw unknownField(issue.keys[0] ?? '', Object.keys(schema.shape))
  }
  const [{ path, message } = { path: [], message: '' }] = error.issues
  const name = String(path[0])
  throw wrong(name, fields[name] === undefined ? 'is missing.' : message)
}

/** The message follows the name. */
export function wrong(name: string, message: string): AdminError {
  return new AdminError('invalid_request', `'${name}' ${message}`, { param: name })
}

export function required<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw wrong(name, 'is missing.')
  return value
}

function unknownField(name: string, known: readonly string[]): AdminError {
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name
  const near = closest(name, known)
  const meant = near === undefined ? '' : `Did you mean '${near}'? `
  const there = known.length > 0 ? `There are: ${known.join(', ')}.` : 'There are none.'
  return new AdminError('invalid_request', `There is no field '${shown}' here. ${meant}${there}`, { param: shown })
}
