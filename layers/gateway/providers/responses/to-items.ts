import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import { THOUGHT_FORMATS } from '../../wire/chat/carried-thoughts.ts'
import { fieldsOf } from '../conversation/answer-parts.ts'
import { rejected, unsupported } from '../verdict.ts'

export function toItems(messages: readonly JsonObject[]): JsonObject[] {
  const items: JsonObject[] = []
  const customCalls = new Set<unknown>()
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`
    const { role } = message
    if (role === 'function')
      throw unsupported(`${path}.role`, "is 'function', which this model does not know; use 'tool'")
    if (role === 'assistant') for (const item of turnItems(message, path, customCalls)) items.push(item)
    else if (role === 'tool') items.push(toResult(message, path, customCalls))
    else items.push({ type: 'message', role, content: toContent(message.content, `${path}.content`) })
  }
  return items
}

function* turnItems(message: JsonObject, path: string, customCalls: Set<unknown>): Iterable<JsonObject> {
  yield* toThoughts(message.reasoning_details)
  const text = saidText(message.content, `${path}.content`) + (isText(message.refusal) ? message.refusal : '')
  if (text !== '') yield { type: 'message', role: 'assistant', content: text }
  for (const [index, call] of ((message.tool_calls ?? []) as JsonObject[]).entries()) {
    yield toCall(call, `${path}.tool_calls[${index}]`, customCalls)
  }
}

/** The thoughts that an upstream of this dialect has encrypted, with their summaries, whose pieces have one index. */
function* toThoughts(details: unknown): Iterable<JsonObject> {
  let summary: { readonly id: unknown; readonly index: unknown; text: string }[] = []
  for (const detail of (details ?? []) as JsonObject[]) {
    if (detail.format !== THOUGHT_FORMATS.openai) continue
    const { id, index, data } = detail
    if (detail.type === 'reasoning.summary' && isText(detail.summary)) {
      const last = summary.at(-1)
      if (last && last.id === id && last.index === index) last.text += detail.summary
      else summary.push({ id, index, text: detail.summary })
    } else if (detail.type === 'reasoning.encrypted' && isText(data)) {
      const parts = summary.filter((part) => part.id === id).map(({ text }) => ({ type: 'summary_text', text }))
      yield { type: 'reasoning', ...(isText(id) && { id }), summary: parts, encrypted_content: data }
      summary = []
    }
  }
}

function toCall(call: JsonObject, path: string, customCalls: Set<unknown>): JsonObject {
  const kind = call.type === 'custom' ? 'custom' : 'function'
  const { name, arguments: text, input } = fieldsOf(call[kind])
  if (!isText(name)) throw rejected(path, 'must be a call of a tool with a name')
  if (!isText(call.id)) throw rejected(`${path}.id`, 'must be the id of a tool call')
  const common = { call_id: call.id, name }
  if (kind === 'function') return { type: 'function_call', ...common, arguments: isText(text) ? text : '{}' }
  customCalls.add(call.id)
  return { type: 'custom_tool_call', ...common, input: isText(input) ? input : '' }
}

function toResult({ tool_call_id: id, content }: JsonObject, path: string, customCalls: Set<unknown>): JsonObject {
  if (!isText(id)) throw rejected(`${path}.tool_call_id`, 'must be the id of a tool call')
  const type = customCalls.has(id) ? 'custom_tool_call_output' : 'function_call_output'
  return { type, call_id: id, output: toContent(content, `${path}.content`) }
}

function toContent(content: unknown, path: string): string | JsonObject[] {
  if (!Array.isArray(content)) return isText(content) ? content : ''
  return content.map((part: JsonObject, index) => toPart(part, `${path}[${index}]`))
}

function toPart(part: JsonObject, path: string): JsonObject {
  const { type } = part
  if (type === 'text') return { type: 'input_text', text: part.text }
  if (type === 'image_url') {
    const { url, detail } = fieldsOf(part.image_url)
    if (!isText(url)) throw rejected(`${path}.image_url.url`, 'must be the address of an image')
    return { type: 'input_image', image_url: url, detail: isText(detail) ? detail : 'auto' }
  }
  if (type === 'file') {
    const { filename, file_data: data } = fieldsOf(part.file)
    if (!isText(data)) throw unsupported(`${path}.file.file_data`, 'must hold the file with this model')
    return { type: 'input_file', ...(isText(filename) && { filename }), file_data: data }
  }
  if (type === 'input_audio') return { type, input_audio: part.input_audio }
  throw notTaken(part, path)
}

/** An assistant's earlier turn is text for every model. */
function saidText(content: unknown, path: string): string {
  if (!Array.isArray(content)) return isText(content) ? content : ''
  return content
    .map((part: JsonObject, index) => {
      const said = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined
      if (typeof said !== 'string') throw notTaken(part, `${path}[${index}]`)
      return said
    })
    .join('')
}

function notTaken({ type }: JsonObject, path: string) {
  return unsupported(path, `is of type '${String(type).slice(0, 40)}', which this model does not take here`)
}

export function toTools(tools: readonly JsonObject[]): JsonObject[] | undefined {
  return tools.length > 0 ? tools.map(toTool) : undefined
}

function toTool(tool: JsonObject, index: number): JsonObject {
  const path = `tools[${index}]`
  const { type: kind } = tool
  if (kind !== 'function' && kind !== 'custom') {
    throw unsupported(path, "must be of type 'function' or 'custom': this model takes no others")
  }
  const { name, description, parameters, strict, format } = fieldsOf(tool[kind])
  if (!isText(name)) throw rejected(`${path}.${kind}.name`, 'must be a string')
  const common = { type: kind, name, ...(description !== undefined && { description }) }
  if (kind === 'custom') return { ...common, ...(isObject(format) && { format: toGrammar(format) }) }
  return { ...common, parameters: isObject(parameters) ? parameters : EMPTY, strict: strict === true }
}

const EMPTY = { type: 'object', properties: {} }

function toGrammar(format: JsonObject): JsonObject {
  return isObject(format.grammar) ? { type: 'grammar', ...format.grammar } : { type: 'text' }
}

const WORDS: ReadonlySet<unknown> = new Set(['none', 'auto', 'required'])
const WANTED = "must be 'none', 'auto', 'required', allowed tools, or a tool with a name"

export function toToolChoice(choice: unknown): unknown {
  if (WORDS.has(choice)) return choice
  if (!isObject(choice) || choice.type !== 'allowed_tools') return toNamed(choice)
  const { mode, tools } = fieldsOf(choice.allowed_tools)
  if (!Array.isArray(tools)) throw rejected('tool_choice', WANTED)
  return { type: 'allowed_tools', mode, tools: tools.map(toNamed) }
}

function toNamed(choice: unknown): JsonObject {
  const { type, ...of } = fieldsOf(choice)
  const { name } = fieldsOf(of[type as string])
  if (typeof name !== 'string') throw rejected('tool_choice', WANTED)
  return { type, name }
}
