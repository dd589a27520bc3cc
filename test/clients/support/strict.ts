import { join } from 'node:path'
import type { JsonObject } from '../../../layers/gateway/domain/basics/json-object.ts'
import { readDefinitions, resolve, type Type } from '../../contracts/support/definitions.ts'
import { wordsOf } from '../../contracts/support/unknown-names.ts'
import { ROOT } from '../../documents/support/markdown.ts'

const defined = (file: string, name: string): Type => ({
  kind: 'name',
  name,
  scope: readDefinitions(join(ROOT, 'node_modules', file)),
})

/** The request of each provider API, as its maker's SDK defines it. */
const REQUESTS = {
  chat: defined('openai/resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase'),
  responses: defined('openai/resources/responses/responses.d.ts', 'ResponseCreateParamsBase'),
  messages: defined('@anthropic-ai/sdk/resources/messages/messages.d.ts', 'MessageCreateParamsBase'),
  beta: defined('@anthropic-ai/sdk/resources/beta/messages/messages.d.ts', 'MessageCreateParamsBase'),
  bedrock: defined('@aws-sdk/client-bedrock-runtime/dist-types/models/models_0.d.ts', 'ConverseRequest'),
}
export type RequestName = keyof typeof REQUESTS

/** OpenAI takes these from Codex, beside its definitions. */
const BESIDE = /^body\.(client_metadata|input\[\d+\]\.id)$/

/** The seal of every thought of the test's upstreams. A provider refuses every other seal. */
export const SEAL = 'EqQBCgIYAhIM'

/** Why the real upstream would refuse this request. */
export function faultOf(name: RequestName, body: JsonObject): string | undefined {
  return faultIn(body, REQUESTS[name], 'body') ?? faultOfPairs(body)
}

function faultIn(value: unknown, named: Type, path: string): string | undefined {
  const type = resolve(named)
  if (value === null || value === undefined) return undefined
  if (type.kind === 'other') return type.name === 'never' ? `${path} may not be there` : undefined
  if (type.kind === 'union') return faultInUnion(value, optionsOf(type), path)
  if (type.kind === 'word')
    return value === type.word ? undefined : `${path} is ${JSON.stringify(value)}, not ${type.word}`
  if (type.kind === 'list') {
    if (!Array.isArray(value)) return `${path} must be a list`
    return firstOf(value.entries(), ([i, item]) => faultIn(item, type.of, `${path}[${i}]`))
  }
  if (type.kind !== 'object' || typeof value !== 'object' || Array.isArray(value)) return `${path} must be an object`
  // A schema is the caller's own.
  if (type.fields.size === 0 || path.endsWith('.input_schema')) return undefined
  return firstOf(Object.entries(value), ([name, inner]) => {
    if (BESIDE.test(`${path}.${name}`)) return undefined
    const field = type.fields.get(name)
    return field ? faultIn(inner, field, `${path}.${name}`) : `${path}.${name} is unknown`
  })
}

function faultInUnion(value: unknown, options: readonly Type[], path: string): string | undefined {
  const kind = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'object' : 'word'
  const isOpen = options.some((option) => option.kind === 'other')
  const fitting = options.filter((option) => option.kind === kind && isOfKind(option, value))
  if (fitting.length === 0 || (kind === 'word' && isOpen)) {
    if (isOpen) return undefined
    return `${path} may not be ${JSON.stringify(value).slice(0, 100)}`
  }
  const faults = fitting.map((option) => faultIn(value, option, path))
  if (faults.includes(undefined)) return undefined
  const depth = (fault?: string) => fault?.indexOf(' ') ?? 0
  return faults.toSorted((a, b) => depth(b) - depth(a))[0]
}

function isOfKind(option: Type, value: unknown): boolean {
  if (option.kind !== 'object') return true
  return ['type', 'role'].every((name) => {
    const field = option.fields.get(name)
    const word = (value as JsonObject)[name]
    const words = wordsOf(field)
    return field ? word === undefined || words.length === 0 || words.includes(String(word)) : word === undefined
  })
}

function optionsOf(type: Type): Type[] {
  const found = resolve(type)
  return found.kind === 'union' ? found.of.flatMap(optionsOf) : [found]
}

function firstOf<T>(values: Iterable<T>, find: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const found = find(value)
    if (found !== undefined) return found
  }
  return undefined
}

/** Every call has a result and every result its call, and each thought has its seal. */
function faultOfPairs({ messages, input }: JsonObject): string | undefined {
  const objects = objectsIn([messages, input])
  const results = objects.flatMap(({ type, call_id, tool_call_id, tool_use_id, toolResult }) => [
    /_output$/.test(String(type)) ? call_id : (tool_call_id ?? tool_use_id),
    (toolResult as JsonObject | undefined)?.toolUseId,
  ])
  const calls = objects.flatMap(({ type, id, call_id, tool_calls, toolUse }) => [
    ...((tool_calls ?? []) as JsonObject[]).map((call) => call.id),
    type === 'tool_use' ? id : /_call$/.test(String(type)) ? call_id : undefined,
    (toolUse as JsonObject | undefined)?.toolUseId,
  ])
  const unpaired = [...new Set(calls).symmetricDifference(new Set(results))].filter((id) => id !== undefined)
  if (unpaired.length > 0) return `${unpaired} is not both a call and its result`
  const seals = objects.flatMap(({ signature, encrypted_content }) => signature || encrypted_content || SEAL)
  return seals.every((seal) => seal === SEAL) ? undefined : 'a thought has another seal'
}

function objectsIn(value: unknown): JsonObject[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inside : [value as JsonObject, ...inside]
}
