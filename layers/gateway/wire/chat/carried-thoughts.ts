import { type JsonObject, parseJson } from '../../domain/basics/json-object.ts'
import { copied, isDeeper, isObject } from '../basics/field-rules.ts'

/** The formats of thoughts that only their makers' models can read again. */
export const THOUGHT_FORMATS = { claude: 'anthropic-claude-v1', openai: 'openai-responses-v1' }

/** The prefix of data that only this gateway can read; no provider's own data begins so. */
export const PACKED = 'thoughts.v1.'
const MOST_THOUGHTS = 1_000
/** A thought is a flat object in a list. */
const THOUGHT_DEPTH = 2
const FIELDS = ['type', 'text', 'signature', 'data', 'summary', 'id', 'format', 'index'] as const

/** Clients carry thoughts as one opaque text. It is no secret: the provider has signed or encrypted its content. */
export function packThoughts(details: readonly JsonObject[]): string {
  return PACKED + Buffer.from(JSON.stringify(details)).toString('base64url')
}

export function arePacked(text: string): boolean {
  return text.startsWith(PACKED)
}

/** The thoughts again; undefined if the text was changed on its way. */
export function unpackThoughts(text: string): JsonObject[] | undefined {
  const details = parseJson(Buffer.from(text.slice(PACKED.length), 'base64url').toString())
  if (!Array.isArray(details) || details.length > MOST_THOUGHTS || isDeeper(details, THOUGHT_DEPTH)) return undefined
  if (!details.every(isThought)) return undefined
  return details.map((detail: JsonObject) => copied(detail, FIELDS))
}

function isThought(detail: unknown): boolean {
  if (!isObject(detail) || typeof detail.type !== 'string') return false
  return FIELDS.every((name) => name === 'index' || ['undefined', 'string'].includes(typeof detail[name]))
}
