import { resolve, type Type } from './definitions.ts'

/** Values that are more than any text, by the names of their fields. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ url: 'https://example.com/a.png', image_url: 'https://example.com/a.png' },
  ...{ file_url: 'https://example.com/a.pdf', server_url: 'https://example.com/mcp' },
  ...{
    file_data: 'data:application/pdf;base64,JVBERi0xLjQKJcOkw7zDtsOf',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAE=',
    media_type: 'image/png',
  },
  ...{ arguments: '{}', call_id: 'call_1', tool_use_id: 'call_1', tool_call_id: 'call_1', id: 'call_1', name: 'f' },
  ...{ encrypted_content: 'eA==', signature: 'eA==', format: undefined, timezone: 'Europe/Berlin' },
  ...{ budget_tokens: 50, max_tokens: 50, max_completion_tokens: 50, max_output_tokens: 50, top_logprobs: 1 },
  ...{ memory_limit: '1g', ttl: '30m', max_num_results: 5, temperature: 0.5, top_p: 0.5, partial_images: 1 },
  ...{ modalities: ['text'], type: undefined },
}

/** Names of what is stored at a provider: docs/clients.md says that no caller may name one. */
const STORED = new Set(['file_id', 'container_id', 'comparison_response_id'])

/** A value of a maker's type, with its optional fields or without them. A union is its first kind that has a shape. */
export function sampleOf(named: Type, isFull: boolean, name = '', depth = 0): unknown {
  const type = resolve(named)
  if (type.kind === 'word') return type.word
  if (type.kind === 'list') return VALUES[name] ?? [sampleOf(type.of, isFull, name, depth)]
  if (type.kind === 'union') return sampleOf(best(type.of), isFull, name, depth)
  if (type.kind === 'object') {
    const isWanted = (field: string) => !type.optional.has(field) || (isFull && depth < 3 && !STORED.has(field))
    const names = [...type.fields.keys()].filter(isWanted)
    const fields = names.map((field) => [field, sampleOf(type.fields.get(field) as Type, isFull, field, depth + 1)])
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
  }
  if (VALUES[name] !== undefined) return VALUES[name]
  if (type.name === 'number') return 1
  if (type.name === 'boolean') return true
  if (type.name === 'string') return 'text'
  return type.name === 'unknown' ? { key: 'text' } : undefined
}

const ORDER = ['word', 'other', 'object', 'list', 'union', 'name']

/** A plain value if there is one: what it may also be has a row of its own. */
function best(types: readonly Type[]): Type {
  const some = types.filter((one) => resolve(one).kind !== 'other' || sampleOf(one, false) !== undefined)
  const known = some.length > 0 ? some : types
  return known.toSorted((a, b) => ORDER.indexOf(resolve(a).kind) - ORDER.indexOf(resolve(b).kind))[0] as Type
}

/** The kinds of a union of objects, by the word in their field `by`. */
export function kindsOf(named: Type, by = 'type'): [string, Type][] {
  const type = resolve(named)
  if (type.kind === 'union') return type.of.flatMap((one) => kindsOf(one, by))
  if (type.kind !== 'object') return []
  const word = type.fields.get(by)
  return word ? wordsIn(word).map((kind) => [kind, named]) : []
}

function wordsIn(named: Type): string[] {
  const type = resolve(named)
  if (type.kind === 'word') return [type.word]
  return type.kind === 'union' ? type.of.flatMap(wordsIn) : []
}
