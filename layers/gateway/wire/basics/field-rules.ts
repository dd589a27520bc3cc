import { badRequest, type GatewayError } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import { plainLine } from '../../domain/basics/plain-text.ts'
import { keyShapes } from '../../domain/keys/secret-text.ts'
import { closest } from './closest.ts'

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

/** A value is quoted only if one of a few words is wanted, and then a short one. `beside` has its neighbours. */
export function badField(path: string, wanted: Wanted, got: unknown, beside?: unknown): GatewayError {
  const code = got === undefined || got === null ? 'missing_required_parameter' : 'invalid_value'
  const near = got === undefined && isObject(beside) ? nearMiss(path.slice(path.lastIndexOf('.') + 1), beside) : ''
  return badRequest(code, `'${path}' must be ${wantedText(wanted)}, but ${described(wanted, got)}${near}`, path)
}

export function described(wanted: Wanted, got: unknown): string {
  if (typeof wanted === 'string' || typeof got !== 'string') return `${describe(got)}.`
  const meant = closest(got.trim(), wanted)
  if (meant !== undefined) return `got '${plainLine(got)}'; did you mean '${meant}'?`
  return isWord(got) ? `got '${plainLine(got)}'.` : `${describe(got)}.`
}

/** Nearly every word of a contract is shorter. */
const LONGEST_WORD = 20

/** A longer text, or one with blanks inside, may be a prompt. */
function isWord(text: string): boolean {
  return text !== '' && text.length <= LONGEST_WORD && !/\S\s+\S/.test(text) && !keyShapes().test(text)
}

const MOST_NEIGHBOURS = 64

/** Fields of other contracts with the same meaning. */
const ELSEWHERE: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
  ['messages', { input: '/v1/responses', prompt: '/v1/completions' }],
  ['input', { messages: '/v1/chat/completions', prompt: '/v1/completions' }],
  ['prompt', { messages: '/v1/chat/completions', input: '/v1/responses' }],
])

function nearMiss(name: string, beside: Readonly<Record<string, unknown>>): string {
  const others = Object.keys(beside)
    .filter((other) => other !== name)
    .slice(0, MOST_NEIGHBOURS)
  const near = closest(name, others)
  if (near !== undefined) return ` There is '${near}' in its place: did you mean '${name}'?`
  const [other, path] = Object.entries(ELSEWHERE.get(name) ?? {}).find(([word]) => others.includes(word)) ?? []
  return other === undefined ? '' : ` '${other}' is a field of ${path}.`
}
