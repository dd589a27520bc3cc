import { badRequest, type GatewayError } from '../../domain/basics/gateway-error.ts'
import { plainLine } from '../../domain/basics/plain-text.ts'
import { keyShapes } from '../../domain/keys/secret-text.ts'
import { closest } from './closest.ts'
import { describe, isObject, type Wanted, wantedText } from './field-rules.ts'

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
