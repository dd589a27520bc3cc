import type { Delta } from '../domain/chat.ts'
import { isObject } from './field-rules.ts'

type ToolCall = Record<string, unknown>

/** Everything a model generated in this delta, as one text to count tokens of. */
export function textOf(delta: Delta): string {
  let text = ''
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'role') continue
    if (typeof value === 'string') text += value
    else if (name === 'tool_calls' && Array.isArray(value)) text += value.map(textOfToolCall).join('')
    else if (name === 'function_call' && isObject(value)) text += stringOf(value.name) + stringOf(value.arguments)
  }
  return text
}

function textOfToolCall(call: unknown): string {
  const fn = isObject(call) && isObject(call.function) ? call.function : {}
  const custom = isObject(call) && isObject(call.custom) ? call.custom : {}
  return stringOf(fn.name) + stringOf(fn.arguments) + stringOf(custom.name) + stringOf(custom.input)
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Adds one more delta to a message in the making. Text grows, tool calls grow by their index, the rest is replaced. */
export function mergeDelta(message: Record<string, unknown>, delta: Delta): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null || value === undefined) continue
    const soFar = message[name]
    if (name === 'role') message.role = value
    else if (name === 'tool_calls' && Array.isArray(value)) message.tool_calls = mergeToolCalls(soFar, value)
    else if (name === 'function_call' && isObject(value)) message.function_call = mergePiece(soFar, value, 'arguments')
    else if (typeof value === 'string') message[name] = stringOf(soFar) + value
    else if (Array.isArray(value) && Array.isArray(soFar)) for (const element of value) soFar.push(element)
    else message[name] = value
  }
}

function mergeToolCalls(soFar: unknown, pieces: readonly unknown[]): ToolCall[] {
  const calls = Array.isArray(soFar) ? (soFar as ToolCall[]) : []
  for (const piece of pieces.filter(isObject)) {
    const existing = calls.find((call) => call.index === piece.index)
    if (!existing) calls.push({ ...piece })
    else {
      const { function: fn, custom, index: _, ...rest } = piece
      for (const [name, value] of Object.entries(rest)) if (value) existing[name] = value
      if (isObject(fn)) existing.function = mergePiece(existing.function, fn, 'arguments')
      if (isObject(custom)) existing.custom = mergePiece(existing.custom, custom, 'input')
    }
  }
  return calls
}

/** A function's arguments and a custom tool's input come in pieces; its name comes once. */
function mergePiece(soFar: unknown, piece: Record<string, unknown>, growing: 'arguments' | 'input') {
  const before = isObject(soFar) ? soFar : {}
  return {
    ...before,
    ...piece,
    name: piece.name || before.name,
    [growing]: stringOf(before[growing]) + stringOf(piece[growing]),
  }
}

/** A finished message carries no stream positions. */
export function finishMessage(message: Record<string, unknown>): Record<string, unknown> {
  const { tool_calls, ...rest } = message
  const calls = Array.isArray(tool_calls) ? tool_calls.map(({ index: _, ...call }) => call) : undefined
  return { role: 'assistant', content: null, refusal: null, ...rest, ...(calls && { tool_calls: calls }) }
}

/** A whole message, as a non-streaming upstream sends it, in the form of a single delta. */
export function messageToDelta(message: Record<string, unknown>): Delta {
  const { tool_calls, ...rest } = message
  return Array.isArray(tool_calls)
    ? { ...rest, tool_calls: tool_calls.map((call, index) => ({ index, ...call })) }
    : rest
}
