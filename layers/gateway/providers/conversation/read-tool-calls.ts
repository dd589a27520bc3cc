import { MAX_DEPTH } from '../../domain/basics/json-fault.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isDeeper, isObject } from '../../wire/basics/field-rules.ts'
import { rejected, unsupported } from '../verdict.ts'
import type { ToolCall } from './turns.ts'

/** The calls that an assistant made in the past. */
export function readToolCalls(calls: unknown, path: string): ToolCall[] {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw rejected(path, 'must be an array of tool calls')
  return calls.map((call: unknown, index) => readToolCall(call, `${path}[${index}]`))
}

function readToolCall(call: unknown, path: string): ToolCall {
  if (isObject(call) && call.type === 'custom') throw unsupported(path, 'is a custom tool’s; this model has functions')
  const fn = isObject(call) && isObject(call.function) ? call.function : {}
  const { name, arguments: text } = fn
  if (!isObject(call) || typeof name !== 'string') throw rejected(path, 'must be a call of a function with a name')
  if (typeof call.id !== 'string' || call.id === '') throw rejected(`${path}.id`, 'must be the id of a tool call')
  const argumentsText = typeof text === 'string' ? text : ''
  return {
    kind: 'toolCall',
    id: call.id,
    name,
    arguments: readArguments(argumentsText, `${path}.function.arguments`),
    argumentsText,
    cacheMark: call.cache_control ?? fn.cache_control,
  }
}

/** Arguments are text until now: nothing has bounded their depth. */
function readArguments(text: string, path: string): JsonObject {
  if (text === '') return {}
  const value = parse(text)
  if (!isObject(value)) throw unsupported(path, 'must be a JSON object as text, which this model needs of past calls')
  if (isDeeper(value, MAX_DEPTH)) throw rejected(path, `is nested more than ${MAX_DEPTH} levels deep`)
  return value
}

/** No error quotes the text: it may be a prompt. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
