import { MAX_DEPTH } from '../../domain/basics/json-fault.ts'
import { type JsonObject, parseJson } from '../../domain/basics/json-object.ts'
import type { ChatBody, ChatRequest } from '../../domain/chat/chat.ts'
import { isDeeper, isObject, isText, textIn } from '../../wire/basics/field-rules.ts'
import { THOUGHT_FORMATS } from '../../wire/chat/carried-thoughts.ts'
import { rejected, unsupported } from '../verdict.ts'
import { fieldsOf } from './answer-parts.ts'
import { readContent, readTexts } from './read-content.ts'
import type { Cacheable, Conversation, TextPart, Thought, ToolCall, ToolResult, Turn, TurnPart } from './turns.ts'

/** OpenAI's messages as turns that alternate, with the instructions apart; the results of tools belong to the user. */
export function readConversation({ body }: ChatRequest): Conversation {
  const system: TextPart[] = []
  const turns: Turn[] = []
  for (const [index, message] of (body.messages as JsonObject[]).entries()) {
    const path = `messages[${index}]`
    if (message.role === 'system' || message.role === 'developer') {
      for (const text of endingCache(message, readTexts(message.content, `${path}.content`))) system.push(text)
    } else {
      addTurn(turns, { role: speakerOf(message, path), parts: endingCache(message, readParts(message, path)) })
    }
  }
  if (turns.length === 0) throw unsupported('messages', 'must hold more than instructions, which this model needs')
  return { system, turns }
}

function addTurn(turns: Turn[], turn: Turn): void {
  const last = turns.at(-1)
  if (last?.role === turn.role) for (const part of turn.parts) last.parts.push(part)
  else if (turn.parts.length > 0) turns.push(turn)
}

function speakerOf({ role }: JsonObject, path: string): Turn['role'] {
  if (role === 'assistant') return 'assistant'
  if (role === 'user' || role === 'tool') return 'user'
  throw unsupported(`${path}.role`, `is '${role}', which this model does not know; use 'tool'`)
}

function readParts(message: JsonObject, path: string): TurnPart[] {
  if (message.role === 'user') return readUser(message, path)
  return message.role === 'tool' ? [readToolResult(message, path)] : readAssistant(message, path)
}

function readUser({ content }: JsonObject, path: string): TurnPart[] {
  const parts = readContent(content, `${path}.content`)
  if (parts.length === 0) throw unsupported(`${path}.content`, 'is blank, which this model does not accept')
  return parts
}

/** Thoughts come first, as Claude demands. */
function readAssistant(message: JsonObject, path: string): TurnPart[] {
  const { content, refusal, tool_calls: calls } = message
  const parts: TurnPart[] = readThoughts(message)
  for (const text of readTexts(content, `${path}.content`)) parts.push(text)
  for (const text of readTexts(refusal, `${path}.refusal`)) parts.push(text)
  for (const [index, call] of ((calls ?? []) as JsonObject[]).entries()) {
    parts.push(readToolCall(call, `${path}.tool_calls[${index}]`))
  }
  return parts
}

/** A result is written to a cache as a whole, so a mark inside it counts for the result. */
function readToolResult({ tool_call_id: id, content, is_error }: JsonObject, path: string): ToolResult {
  if (!isText(id)) throw rejected(`${path}.tool_call_id`, 'must be the id of a tool call')
  const parts = readContent(content, `${path}.content`)
  const cacheMark = parts.findLast((part) => part.cacheMark)?.cacheMark
  return { kind: 'toolResult', id, parts, isError: is_error === true, cacheMark }
}

/** A mark on a message counts for its last part. */
function endingCache<Part extends Cacheable>({ cache_control: mark }: JsonObject, parts: Part[]): Part[] {
  const last = parts.pop()
  if (last) parts.push(mark ? { ...last, cacheMark: mark } : last)
  return parts
}

/** Thoughts without a signature, and those of other models, cannot be used again. A text may come in pieces. */
function readThoughts({ reasoning_content: told, reasoning_details: details }: JsonObject): Thought[] {
  const thoughts: Thought[] = []
  const known = ((details ?? []) as JsonObject[]).filter(({ format }) => format === THOUGHT_FORMATS.claude)
  let text = ''
  // A text beside the thoughts belongs to the first; an empty thought stays empty.
  let beside = known.some((detail) => textIn(detail.text) !== '') ? '' : textIn(told)
  for (const detail of known) {
    text += textIn(detail.text)
    const [signature, data] = [textIn(detail.signature), textIn(detail.data)]
    if (detail.type === 'reasoning.encrypted' && data !== '') thoughts.push({ kind: 'thought', thought: { data } })
    if (signature === '') continue
    thoughts.push({ kind: 'thought', thought: { text: text || beside, signature } })
    text = ''
    beside = ''
  }
  return thoughts
}

function readToolCall(call: JsonObject, path: string): ToolCall {
  const custom = call.type === 'custom' ? fieldsOf(call.custom) : undefined
  const fn = custom
    ? { name: custom.name, arguments: JSON.stringify({ input: custom.input }) }
    : fieldsOf(call.function)
  const { name } = fn
  if (typeof name !== 'string') throw rejected(path, 'must be a call of a function with a name')
  if (!isText(call.id)) throw rejected(`${path}.id`, 'must be the id of a tool call')
  const argumentsText = textIn(fn.arguments)
  return {
    kind: 'toolCall',
    id: call.id,
    name,
    arguments: readArguments(argumentsText, `${path}.function.arguments`),
    argumentsText,
    cacheMark: call.cache_control ?? fieldsOf(call.function).cache_control,
  }
}

/** Arguments are text until now: nothing has bounded their depth. */
function readArguments(text: string, path: string): JsonObject {
  if (text === '') return {}
  const value = parseJson(text)
  if (!isObject(value)) throw unsupported(path, 'must be a JSON object as text, which this model needs of past calls')
  if (isDeeper(value, MAX_DEPTH)) throw rejected(path, `is nested more than ${MAX_DEPTH} levels deep`)
  return value
}

export type Tool = ReturnType<typeof readTool>

export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string }

/** The functions that the model may call, and the choice: it may, must, or must call a certain one. */
export type ToolOffer = { readonly tools: readonly Tool[]; readonly choice: ToolChoice | undefined }

export function readToolOffer({ tools, tool_choice: choice }: ChatBody): ToolOffer {
  const offered = Array.isArray(tools) ? tools.map(readTool) : []
  const { type, allowed_tools: allowed } = fieldsOf(choice)
  if (type !== 'allowed_tools') return { tools: offered, choice: readChoice(choice) }
  const { mode, tools: named } = fieldsOf(allowed)
  const names = new Set((Array.isArray(named) ? named : []).map(nameIn))
  return { tools: offered.filter(({ name }) => names.has(name)), choice: readChoice(mode) }
}

/** The input of a custom tool is any text, which providers with functions only get as the one field of an object. */
const CUSTOM_INPUT = { properties: { input: { type: 'string' } } }

/** The names of the custom tools, whose calls come as those of functions. */
export function customTools({ tools }: ChatBody): ReadonlySet<unknown> {
  const custom = (Array.isArray(tools) ? tools : []).filter(({ type }: JsonObject) => type === 'custom')
  return new Set(custom.map(nameIn))
}

const nameIn = (tool: JsonObject) => fieldsOf(tool[String(tool.type)]).name

function readTool(tool: JsonObject, index: number) {
  const isCustom = tool.type === 'custom'
  const fn = isCustom ? asFunction(fieldsOf(tool.custom)) : fieldsOf(tool.function)
  if (!isText(fn.name)) throw rejected(`tools[${index}].${isCustom ? 'custom' : 'function'}.name`, 'must be a string')
  return {
    name: fn.name,
    description: typeof fn.description === 'string' ? fn.description : '',
    parameters: { type: 'object', properties: {}, ...(isObject(fn.parameters) && fn.parameters) },
    isStrict: fn.strict === true,
    cacheMark: tool.cache_control ?? fn.cache_control,
  }
}

function asFunction({ name, description = '', format }: JsonObject): JsonObject {
  const { syntax, definition } = fieldsOf(fieldsOf(format).grammar)
  const grammar = definition === undefined ? '' : `\n\nThe input follows this ${syntax} grammar:\n${definition}`
  return { name, description: `${description}${grammar}`.trim(), parameters: CUSTOM_INPUT }
}

const WORDS: ReadonlySet<unknown> = new Set(['none', 'auto', 'required'])
const WANTED = "must be 'none', 'auto', 'required' or a function with a name"

function readChoice(choice: unknown): ToolChoice | undefined {
  if (choice === undefined || WORDS.has(choice)) return choice as ToolChoice | undefined
  const name = nameIn(fieldsOf(choice))
  if (isText(name)) return { name }
  throw rejected('tool_choice', WANTED)
}
