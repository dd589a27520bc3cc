import type { JsonObject } from '../../domain/basics/json-object.ts'
import { badField } from '../../wire/basics/bad-field.ts'
import { boolean, isObject, object, oneOf } from '../../wire/basics/field-rules.ts'
import { nonEmptyText, requireValid } from './require-valid.ts'

/** Anthropic writes the definition of a tool of its own, which is longer than any that a caller writes by itself. */
const HELD_AS = 32

/** The number of tools for which tokens are held. */
export function heldTools(tools: unknown): number {
  if (!Array.isArray(tools)) return 0
  return tools.reduce((sum, tool) => sum + (isCustom(tool) ? 1 : HELD_AS), 0)
}

/** Tools as functions. A tool that Anthropic defines is passed unchanged, for a dialect that knows it. */
export function innerTools(tools: unknown): JsonObject[] {
  return Array.isArray(tools) ? tools.map(innerTool) : []
}

function innerTool(tool: JsonObject, index: number): JsonObject {
  const path = `tools[${index}]`
  if (!isCustom(tool)) {
    requireValid(nonEmptyText, tool.type, `${path}.type`)
    return tool
  }
  const { name: called, description, input_schema: parameters, strict, cache_control } = tool
  requireValid(nonEmptyText, called, `${path}.name`)
  requireValid(object, parameters, `${path}.input_schema`)
  if (typeof (description ?? '') !== 'string') throw badField(`${path}.description`, 'a string', description)
  return {
    type: 'function',
    function: { name: called, ...(description ? { description } : {}), parameters, ...(strict === true && { strict }) },
    ...(isObject(cache_control) && { cache_control }),
  }
}

function isCustom({ type }: JsonObject): boolean {
  return type === undefined || type === null || type === 'custom'
}

/** The tools that the model may or must call, and how many at once. */
export function innerChoice(choice: unknown): JsonObject {
  if (!isObject(choice)) return {}
  const { type, name: wanted, disable_parallel_tool_use: oneAtATime } = choice
  requireValid(oneOf('auto', 'any', 'tool', 'none'), type, 'tool_choice.type')
  if (type === 'tool') requireValid(nonEmptyText, wanted, 'tool_choice.name')
  if (oneAtATime !== undefined && oneAtATime !== null) {
    requireValid(boolean, oneAtATime, 'tool_choice.disable_parallel_tool_use')
  }
  return {
    tool_choice: type === 'tool' ? { type: 'function', function: { name: wanted } } : WORDS.get(type),
    ...(oneAtATime === true && { parallel_tool_calls: false }),
  }
}

const WORDS: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
])
