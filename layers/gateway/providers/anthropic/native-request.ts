import type { JsonObject } from '../../domain/json-object.ts'
import { isObject } from '../../wire/field-rules.ts'
import type { ChatCall } from '../provider.ts'
import { leaveOut } from '../verdict.ts'
import { nativeBlocks } from './native-blocks.ts'

/** JsonObject that cost no more than the tokens that the price and the output cap cover. */
const PASSED: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'top_k', 'stop_sequences', 'tool_choice', 'output_config', 'service_tier', 'speed'],
])
/** JsonObject that are written below. */
const WRITTEN: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'metadata', 'tools', 'thinking', 'cache_control'],
])
/** Hints that need a header for trials, which this gateway does not send. */
const HINTS = ['context_management', 'diagnostics']

/**
 * A request that came in the words of the Messages API, for an upstream that speaks them too: what has no words in Chat
 * Completions, such as a document with its citations, travels on. What may change the price does not.
 */
export function toNativeRequest(call: ChatCall, body: JsonObject): Record<string, unknown> {
  const { model, outputCap, asksWhole, extra } = call
  const blocks = nativeBlocks(call)
  const { metadata, system, thinking } = body
  call.noteDropped(HINTS.filter((name) => call.chat.raw[name]))
  return {
    ...Object.fromEntries(Object.entries(body).filter(([name]) => passes(name, call))),
    ...Object.fromEntries(Object.entries(extra).filter(([name]) => !WRITTEN.has(name) || name === 'tools')),
    model,
    max_tokens: outputCap,
    stream: !asksWhole,
    ...(system !== undefined && { system: blocks.content(system) }),
    messages: blocks.messages(body.messages as JsonObject[]),
    ...(Array.isArray(body.tools) && !extra.tools && { tools: body.tools.map(blocks.marked) }),
    ...(isObject(thinking) && { thinking: toThinking(thinking, outputCap) }),
    ...(isObject(metadata) && { metadata }),
    ...blocks.mark(body.cache_control),
  }
}

/** Whether a field goes on under its name. Chat's own, which this API does not have, are refused or left out. */
function passes(name: string, call: ChatCall): boolean {
  if (PASSED.has(name)) return true
  if (!WRITTEN.has(name)) leaveOut(call, name, 'must be left out: this model has no such field')
  return false
}

const LEAST_BUDGET = 1024

/** A cap that was lowered leaves less to think with: Anthropic wants room for an answer after the thoughts. */
function toThinking(thinking: JsonObject, outputCap: number): JsonObject {
  const { budget_tokens: budget } = thinking
  if (typeof budget !== 'number' || budget < outputCap || outputCap <= LEAST_BUDGET) return thinking
  return { ...thinking, budget_tokens: outputCap - 1 }
}
