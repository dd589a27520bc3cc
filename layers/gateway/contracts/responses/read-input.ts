import type { JsonObject } from '../../domain/basics/json-object.ts'
import { badField, copied } from '../../wire/basics/field-rules.ts'
import { arePacked, THOUGHT_FORMATS, unpackThoughts } from '../../wire/chat/carried-thoughts.ts'
import { namespacedName } from '../../wire/chat/namespaced-name.ts'
import { argumentsOf, CLIENT_CALLS, resultOf } from './client-tools.ts'
import { notTaken } from './own-words.ts'
import { namesIn } from './read-tools.ts'

/** An assistant's turn that is being read. The items of one turn are one message in Chat Completions. */
type Turn = {
  readonly content: JsonObject[]
  readonly calls: JsonObject[]
  readonly thoughts: string[]
  readonly details: JsonObject[]
}

type Content = string | readonly JsonObject[]

type ReadInput = {
  readonly messages: JsonObject[]
  /** The characters by which they are longer than the caller's own items. */
  readonly addedChars: number
  /** Images in items that only the Responses API has. */
  readonly images: number
}

export function readInput({ input, instructions }: JsonObject, raw: JsonObject, mayBeEmpty = false): ReadInput {
  const isTold = typeof instructions === 'string' && instructions !== ''
  const messages: JsonObject[] = isTold ? [{ role: 'system', content: instructions }] : []
  if (mayBeEmpty && isEmpty(input)) return { messages, addedChars: 0, images: 0 }
  if (typeof input === 'string') {
    if (input === '') throw badField('input', 'a string that is not empty, or an array of items', input)
    return { messages: [...messages, { role: 'user', content: input }], addedChars: 0, images: 0 }
  }
  if (!Array.isArray(input) || input.length === 0) {
    throw badField('input', 'a string or a non-empty array of items', input, raw)
  }
  const items = new ItemReader()
  for (const [index, item] of input.entries()) items.take(item, `input[${index}]`)
  items.end()
  return { messages: [...messages, ...items.messages], addedChars: items.addedChars, images: items.images }
}

function isEmpty(input: unknown): boolean {
  return input === undefined || input === '' || (Array.isArray(input) && input.length === 0)
}

class ItemReader {
  readonly messages: JsonObject[] = []
  addedChars = 0
  images = 0
  readonly #called = new Set<unknown>()
  #turn: Turn | undefined

  take(item: JsonObject, path: string): void {
    const { type } = item
    if (type === 'reasoning') this.#takeThought(item, path)
    else if (type === 'function_call' || type === 'custom_tool_call') this.#takeCall(item)
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') this.#takeResult(item, path)
    else if (CLIENT_CALLS.has(type)) this.#takeClientCall(item)
    else if (CLIENT_RESULTS.has(type)) this.#takeClientResult(item, path)
    else if (type === 'message' || type === undefined) this.#takeMessage(item)
    else if (type === 'image_generation_call' && item.result) this.images += 1
  }

  end(): void {
    if (!this.#turn) return
    const { content, calls, thoughts, details } = this.#turn
    this.#turn = undefined
    // Thoughts alone are no turn.
    if (content.length === 0 && calls.length === 0) return
    const [first] = content
    this.messages.push({
      role: 'assistant',
      content: first === undefined ? null : content.length === 1 && first.type === 'text' ? first.text : content,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n\n') }),
      ...(details.length > 0 && { reasoning_details: details.map((detail, index) => ({ ...detail, index })) }),
    })
  }

  #takeMessage({ role, content }: JsonObject): void {
    const read = readContent(content as Content)
    if (role === 'assistant') {
      const parts = typeof read === 'string' ? [{ type: 'text', text: read }] : read
      for (const part of parts) this.#open().content.push(part)
      return
    }
    this.end()
    this.messages.push({ role, content: read })
  }

  #takeThought(item: JsonObject, path: string): void {
    const summary = readThought(item.summary, 'summary_text', `${path}.summary`)
    const spoken = readThought(item.content, 'reasoning_text', `${path}.content`)
    const { thoughts, details } = this.#open()
    const text = [...summary, ...spoken].join('\n\n')
    if (text !== '') thoughts.push(text)
    for (const detail of detailsOf(item, text, summary, path)) details.push(detail)
  }

  #takeCall({ type, call_id: id, namespace, name: own, arguments: args, input }: JsonObject): void {
    const name = namespacedName(namespace, own as string)
    this.#called.add(id)
    this.#open().calls.push(
      type === 'custom_tool_call'
        ? { id, type: 'custom', custom: { name, input } }
        : { id, type: 'function', function: { name, arguments: args } },
    )
  }

  /** A search by the provider has no counterpart in other API formats. */
  #takeClientCall(item: JsonObject): void {
    if (isOfServer(item)) return
    const name = CLIENT_CALLS.get(item.type)?.name ?? ''
    this.addedChars += CLIENT_CHARS
    this.#takeCall({ type: 'function_call', call_id: item.call_id, name, arguments: argumentsOf(item) })
  }

  #takeClientResult(item: JsonObject, path: string): void {
    if (isOfServer(item)) return
    const names = namesIn(item.tools)
    const output = resultOf(item, names)
    this.addedChars += CLIENT_CHARS + names.reduce((sum, name) => sum + name.length + 2, 0)
    this.#takeResult({ call_id: item.call_id ?? item.id, output }, path)
  }

  #takeResult({ call_id: id, output }: JsonObject, path: string): void {
    if (!this.#called.has(id)) {
      throw notTaken(`${path}.call_id`, 'must be the call_id of a call among the items before it')
    }
    this.end()
    this.messages.push({ role: 'tool', tool_call_id: id, content: readContent(output as Content) })
  }

  #open(): Turn {
    this.#turn ??= { content: [], calls: [], thoughts: [], details: [] }
    return this.#turn
  }
}

const CLIENT_RESULTS = new Set<unknown>([
  ...['apply_patch_call_output', 'shell_call_output', 'local_shell_call_output', 'computer_call_output'],
  'tool_search_output',
])
/** The most characters that a call or a result gains: its name as a function, and the words around a result. */
const CLIENT_CHARS = 64

const isOfServer = ({ type, execution }: JsonObject) => /^tool_search/.test(String(type)) && execution !== 'client'

function readContent(content: Content): string | JsonObject[] {
  return typeof content === 'string' ? content : content.map(readPart)
}

function readPart(part: JsonObject, index: number): JsonObject {
  const { type, text, refusal, image_url: url, detail, filename, file_url, input_audio } = part
  const mark = copied(part, ['prompt_cache_breakpoint'])
  if (type === 'refusal') return { type, refusal }
  if (type === 'input_image')
    return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) }, ...mark }
  if (type === 'input_audio') return { type, input_audio }
  if (type !== 'input_file') return { type: 'text', text, ...mark }
  const file_data = part.file_data || file_url
  if (!file_data)
    throw badField(`content[${index}].file_data`, 'a file as data, or file_url its address', part.file_data)
  return { type: 'file', file: { ...(filename !== undefined && { filename }), file_data }, ...mark }
}

function readThought(parts: unknown, kind: string, path: string): string[] {
  return ((parts ?? []) as JsonObject[]).map((part, index) => {
    if (part.type === kind && typeof part.text === 'string') return part.text
    throw badField(`${path}[${index}]`, `a part of type ${kind} with a 'text'`, part)
  })
}

/** The details by which the provider recognises its thought. A signature belongs to the text beside it. */
function detailsOf(
  { id, encrypted_content: sealed }: JsonObject,
  text: string,
  summary: string[],
  path: string,
): JsonObject[] {
  if (typeof sealed !== 'string' || sealed === '') return []
  if (arePacked(sealed)) {
    const details = unpackThoughts(sealed)
    if (!details) throw badField(`${path}.encrypted_content`, 'as it was in the answer it came with', sealed)
    return withWords(details, text)
  }
  const own = { ...(typeof id === 'string' && { id }), format: THOUGHT_FORMATS.openai }
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
