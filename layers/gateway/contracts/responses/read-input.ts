import type { JsonObject } from '../../domain/basics/json-object.ts'
import { badField } from '../../wire/basics/bad-field.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { arePacked, unpackThoughts } from '../../wire/chat/carried-thoughts.ts'
import { namespacedName } from '../../wire/chat/namespaced-name.ts'
import { notTaken, requireText } from './not-taken.ts'
import { readGiven, readSaid } from './read-content.ts'

const MAX_ITEMS = 10_000
const ROLES = ['user', 'assistant', 'system', 'developer']

/** An assistant's turn that is being read. The items of one turn are one message in Chat Completions. */
type Turn = {
  readonly content: JsonObject[]
  readonly calls: JsonObject[]
  readonly thoughts: string[]
  readonly details: JsonObject[]
}

/** The items of `input` as the messages of Chat Completions. */
export function readInput({ input, instructions }: JsonObject, raw: JsonObject): JsonObject[] {
  const messages: JsonObject[] = []
  if (typeof instructions === 'string' && instructions !== '') messages.push({ role: 'system', content: instructions })
  if (typeof input === 'string') {
    if (input === '') throw badField('input', 'a string that is not empty, or an array of items', input)
    return [...messages, { role: 'user', content: input }]
  }
  if (!Array.isArray(input) || input.length === 0) {
    throw badField('input', 'a string or a non-empty array of items', input, raw)
  }
  if (input.length > MAX_ITEMS) throw badField('input', `an array of at most ${MAX_ITEMS} items`, input)
  const items = new ItemReader(messages)
  for (const [index, item] of input.entries()) items.take(item, `input[${index}]`)
  items.end()
  return messages
}

class ItemReader {
  readonly #messages: JsonObject[]
  readonly #called = new Set<string>()
  #turn: Turn | undefined

  constructor(messages: JsonObject[]) {
    this.#messages = messages
  }

  /** An item of one of the kinds in responses-fields.ts. */
  take(item: JsonObject, path: string): void {
    switch (item.type) {
      case 'reasoning':
        this.#takeThought(item, path)
        return
      case 'function_call':
      case 'custom_tool_call':
        this.#takeCall(item, item.type === 'custom_tool_call', path)
        return
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#takeResult(item, path)
        return
      default:
        this.#takeMessage(item, path)
    }
  }

  end(): void {
    if (!this.#turn) return
    const { content, calls, thoughts, details } = this.#turn
    this.#turn = undefined
    // Thoughts alone are no turn.
    if (content.length === 0 && calls.length === 0) return
    const [first] = content
    this.#messages.push({
      role: 'assistant',
      content: first === undefined ? null : content.length === 1 && first.type === 'text' ? first.text : content,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n\n') }),
      ...(details.length > 0 && { reasoning_details: details.map((detail, index) => ({ ...detail, index })) }),
    })
  }

  #takeMessage({ role, content }: JsonObject, path: string): void {
    if (typeof role !== 'string' || !ROLES.includes(role)) {
      throw badField(`${path}.role`, ROLES, role)
    }
    if (role === 'assistant') {
      for (const part of readSaid(content, `${path}.content`)) this.#open().content.push(part)
      return
    }
    this.end()
    this.#messages.push({ role, content: readGiven(content, `${path}.content`) })
  }

  #takeThought(item: JsonObject, path: string): void {
    const summary = readThought(item.summary, 'summary_text', `${path}.summary`)
    const spoken = readThought(item.content, 'reasoning_text', `${path}.content`)
    const { thoughts, details } = this.#open()
    const text = [...summary, ...spoken].join('\n\n')
    if (text !== '') thoughts.push(text)
    for (const detail of detailsOf(item, text, summary, path)) details.push(detail)
  }

  #takeCall(item: JsonObject, isCustom: boolean, path: string): void {
    const id = requireText(item, 'call_id', path)
    const name = namespacedName(item.namespace, requireText(item, 'name', path))
    const field = isCustom ? 'input' : 'arguments'
    const said = item[field]
    if (typeof said !== 'string') throw badField(`${path}.${field}`, 'a string', said)
    this.#called.add(id)
    this.#open().calls.push(
      isCustom
        ? { id, type: 'custom', custom: { name, input: said } }
        : { id, type: 'function', function: { name, arguments: said } },
    )
  }

  #takeResult(item: JsonObject, path: string): void {
    const id = requireText(item, 'call_id', path)
    if (!this.#called.has(id)) {
      throw notTaken(`${path}.call_id`, 'must be the call_id of a call among the items before it')
    }
    this.end()
    this.#messages.push({ role: 'tool', tool_call_id: id, content: readGiven(item.output, `${path}.output`) })
  }

  #open(): Turn {
    this.#turn ??= { content: [], calls: [], thoughts: [], details: [] }
    return this.#turn
  }
}

function readThought(parts: unknown, kind: string, path: string): string[] {
  if (parts === undefined || parts === null) return []
  if (!Array.isArray(parts)) throw badField(path, 'an array of parts', parts)
  return parts.map((part: unknown, index) => {
    if (isObject(part) && part.type === kind && typeof part.text === 'string') return part.text
    const at = `${path}[${index}]`
    throw badField(at, `a part of type ${kind} with a 'text'`, part)
  })
}

/** The details by which the provider recognises its thought. A signature belongs to the text beside it. */
function detailsOf(
  { id, encrypted_content: sealed }: JsonObject,
  text: string,
  summary: string[],
  path: string,
): JsonObject[] {
  if (sealed === undefined || sealed === null || sealed === '') return []
  const name = `${path}.encrypted_content`
  if (typeof sealed !== 'string') throw badField(name, 'a string', sealed)
  if (arePacked(sealed)) {
    const details = unpackThoughts(sealed)
    if (!details) throw badField(name, 'as it was in the answer it came with', sealed)
    return withWords(details, text)
  }
  const own = { ...(typeof id === 'string' && { id }), format: 'openai-responses-v1' }
  return [
    ...summary.map((part) => ({ type: 'reasoning.summary', summary: part, ...own })),
    { type: 'reasoning.encrypted', data: sealed, ...own },
  ]
}

/** The text belongs to the first detail: after it, another text would have begun an item of its own. */
function withWords(details: readonly JsonObject[], text: string): JsonObject[] {
  const first = details.findIndex((one) => one.type === 'reasoning.text' && one.text === undefined)
  return details.map((one, index) => (index === first ? { ...one, text } : one))
}
