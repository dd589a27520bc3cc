import type { JsonObject } from '../../domain/basics/json-object.ts'

export type Wanted = string | readonly string[]

export function wantedText(wanted: Wanted): string {
  if (typeof wanted === 'string') return wanted
  return wanted.length === 1 ? `'${wanted[0]}'` : `one of ${wanted.join(', ')}`
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function copied(fields: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]))
}

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
  if (value === '') return 'got an empty string'
  if (typeof value === 'string') {
    return QUOTED.test(value) ? `got the string '${value}'` : `got a string of ${value.length} characters`
  }
  if (Array.isArray(value))
    return value.length === 0 ? 'got an empty array' : `got an array of ${value.length} elements`
  return 'got an object'
}

/** A number or a flag in quotes is no prompt. */
const QUOTED = /^(?:-?\d{1,10}(?:\.\d{1,10})?|true|false)$/i
