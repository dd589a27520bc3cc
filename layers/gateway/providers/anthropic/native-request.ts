import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isText } from '../../wire/basics/field-rules.ts'
import { fieldTable, READ, rows, sent, toFields } from '../conversation/field-table.ts'
import type { ChatCall } from '../provider.ts'

/** Fields that the operator cannot send in place of ours. */
const OURS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'metadata', 'thinking', 'cache_control'],
])
/** Fields that cost no more than the tokens that the price and the output cap cover. */
const PASSED = [
  ...['temperature', 'top_p', 'top_k', 'stop_sequences', 'tool_choice', 'tools', 'thinking', 'output_config'],
  ...['metadata', 'cache_control', 'service_tier', 'speed'],
]
/** Hints that need a beta header, which this gateway does not send. */
const HINTS = ['context_management', 'diagnostics']

const NATIVE_FIELDS = fieldTable({
  ...rows(PASSED, (name) => sent(name)),
  ...rows(['model', 'max_tokens', 'stream'], () => READ),
  system: sent('system', nativeContent),
  messages: sent('messages', (messages) => nativeMessages(messages as JsonObject[])),
})

/** Content that Chat Completions does not support, such as citations, is passed on; fields that may cost more not. */
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

function nativeMessages(messages: readonly JsonObject[]): JsonObject[] {
  return messages.flatMap((message) => {
    const content = nativeContent(message.content)
    return Array.isArray(content) && content.length === 0 ? [] : [{ ...message, content }]
  })
}

function nativeContent(content: unknown): unknown {
  return Array.isArray(content) ? content.filter(isReadable) : content
}

/** A thought without a signature belongs to another model, and Anthropic would refuse the whole request for it. */
function isReadable({ type, signature }: JsonObject): boolean {
  return type !== 'thinking' || isText(signature)
}
