import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { rejected, unsupported } from '../verdict.ts'

/** Tools of Chat Completions. Others, such as a search, are billed by the call. */
export function toTools(tools: unknown): JsonObject[] {
  return Array.isArray(tools) ? tools.map(toTool) : []
}

function toTool(tool: unknown, index: number): JsonObject {
  const path = `tools[${index}]`
  const kind = isObject(tool) ? tool.type : undefined
  if (!isObject(tool) || (kind !== 'function' && kind !== 'custom')) {
    throw unsupported(path, "must be of type 'function' or 'custom': this model takes no others")
  }
  const said = isObject(tool[kind]) ? (tool[kind] as JsonObject) : {}
  const { name, description, parameters, strict, format } = said
  if (typeof name !== 'string' || name === '') throw rejected(`${path}.${kind}.name`, 'must be a string')
  const common = { type: kind, name, ...(typeof description === 'string' && { description }) }
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
  if (choice === undefined || choice === null || WORDS.has(choice)) return choice ?? undefined
  if (!isObject(choice) || choice.type !== 'allowed_tools') return toNamed(choice)
  const { mode, tools } = isObject(choice.allowed_tools) ? choice.allowed_tools : {}
  if (!Array.isArray(tools)) throw rejected('tool_choice', WANTED)
  return { type: 'allowed_tools', mode, tools: tools.map(toNamed) }
}

function toNamed(choice: unknown): JsonObject {
  const kind = isObject(choice) && choice.type === 'custom' ? 'custom' : 'function'
  const named = isObject(choice) && choice.type === kind ? choice[kind] : undefined
  if (!isObject(named) || typeof named.name !== 'string') throw rejected('tool_choice', WANTED)
  return { type: kind, name: named.name }
}
