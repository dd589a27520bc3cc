import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatBody } from '../../domain/chat/chat.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import { rejected, unsupported } from '../verdict.ts'
import { fieldsOf } from './answer-parts.ts'

export type Tool = ReturnType<typeof readTool>

export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string }

/** The functions that the model may call, and the choice: it may, must, or must call a certain one. */
export type ToolOffer = { readonly tools: readonly Tool[]; readonly choice: ToolChoice | undefined }

export function readToolOffer({ tools, tool_choice: choice }: ChatBody): ToolOffer {
  return { tools: Array.isArray(tools) ? tools.map(readTool) : [], choice: readChoice(choice) }
}

function readTool(tool: JsonObject, index: number) {
  const path = `tools[${index}]`
  if (tool.type !== 'function') throw unsupported(path, 'must be a function: this model takes functions only')
  const fn = fieldsOf(tool.function)
  if (!isText(fn.name)) throw rejected(`${path}.function.name`, 'must be a string')
  return {
    name: fn.name,
    description: typeof fn.description === 'string' ? fn.description : '',
    parameters: { type: 'object', properties: {}, ...(isObject(fn.parameters) && fn.parameters) },
    isStrict: fn.strict === true,
    cacheMark: tool.cache_control ?? fn.cache_control,
  }
}

const WORDS: ReadonlySet<unknown> = new Set(['none', 'auto', 'required'])
/** Choices of OpenAI's that other dialects do not support. */
const OTHER_KINDS: ReadonlySet<unknown> = new Set(['allowed_tools', 'custom'])
const WANTED = "must be 'none', 'auto', 'required' or a function with a name"

function readChoice(choice: unknown): ToolChoice | undefined {
  if (choice === undefined || WORDS.has(choice)) return choice as ToolChoice | undefined
  const { type, function: fn } = fieldsOf(choice)
  const { name } = fieldsOf(fn)
  if (type === 'function' && isText(name)) return { name }
  throw OTHER_KINDS.has(type)
    ? unsupported('tool_choice', `${WANTED} with this model`)
    : rejected('tool_choice', WANTED)
}
