import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import { fieldsOf } from '../conversation/answer-parts.ts'
import { rejected, unsupported } from '../verdict.ts'

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
