import type { JsonObject } from '../../domain/json-object.ts'
import { isObject } from '../../wire/field-rules.ts'
import { cacheMarkOf } from '../cache-mark.ts'
import { fieldTable, READ, rows, sent, toFields } from '../conversation/field-table.ts'
import type { ChatCall } from '../provider.ts'
import { nativeBlocks } from './native-blocks.ts'

/** JsonObject that the operator cannot send in place of ours. */
const OURS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'metadata', 'thinking', 'cache_control'],
])
/** JsonObject that cost no more than the tokens that the price and the output cap cover. */
const PASSED = [
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'tool_choice',
  'output_config',
  'service_tier',
  'speed',
]
/** Hints that need a beta header, which this gateway does not send. */
const HINTS = ['context_management', 'diagnostics']

const NATIVE_FIELDS = fieldTable({
  ...rows(PASSED, (name) => sent(name)),
  ...rows(['model', 'max_tokens', 'stream'], () => READ),
  system: sent('system', (system, _, call) => nativeBlocks(call).content(system)),
  messages: sent('messages', (messages, _, call) => nativeBlocks(call).messages(messages as JsonObject[])),
  tools: sent('tools', (tools, _, call) => (Array.isArray(tools) ? tools.map(nativeBlocks(call).marked) : undefined)),
  thinking: sent('thinking', (thinking, _, { outputCap }) =>
    isObject(thinking) ? toThinking(thinking, outputCap) : undefined,
  ),
  metadata: sent('metadata', (metadata) => (isObject(metadata) ? metadata : undefined)),
  cache_control: sent('cache_control', (mark, _, call) => cacheMarkOf(mark, call)),
})

/**
 * A request in the format of the Messages API, for an upstream that speaks it too: content that Chat Completions does
 * not support, such as a document with its citations, is passed on. JsonObject that may change the price are not.
 */
export function toNativeRequest(call: ChatCall, body: JsonObject): Record<string, unknown> {
  const { model, outputCap, asksWhole, extra } = call
  call.noteDropped(HINTS.filter((name) => call.chat.raw[name]))
  return {
    ...toFields(NATIVE_FIELDS, body, call),
    ...Object.fromEntries(Object.entries(extra).filter(([name]) => !OURS.has(name))),
    model,
    max_tokens: outputCap,
    stream: !asksWhole,
  }
}

const LEAST_BUDGET = 1024

/** A cap that was lowered leaves less room for thinking: Anthropic wants room for an answer after the thoughts. */
function toThinking(thinking: JsonObject, outputCap: number): JsonObject {
  const { budget_tokens: budget } = thinking
  if (typeof budget !== 'number' || budget < outputCap || outputCap <= LEAST_BUDGET) return thinking
  return { ...thinking, budget_tokens: outputCap - 1 }
}
