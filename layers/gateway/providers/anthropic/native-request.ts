import { isObject } from '../../wire/field-rules.ts'
import type { ChatCall } from '../provider.ts'
import { unsupported } from '../verdict.ts'
import { nativeBlocks } from './native-blocks.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields that cost no more than the tokens that the price and the output cap cover. */
const PASSED: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'top_k', 'stop_sequences', 'tool_choice', 'output_config'],
])
/** Fields that are written below. */
const WRITTEN: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'metadata', 'tools', 'thinking', 'cache_control'],
])
/** Hints that need a header for trials, which this gateway does not send. */
const LEFT_OUT: ReadonlySet<string> = new Set(['context_management', 'diagnostics'])

const WHY = 'must be left out: this gateway does not pass it on, because it may change what the provider bills'

/**
 * A request that came in the words of the Messages API, for an upstream that speaks them too: what has no words in Chat
 * Completions, such as a document with its citations, travels on. What may change the price does not.
 */
export function toNativeRequest(call: ChatCall, body: Fields): Record<string, unknown> {
  const { model, outputCap, asksWhole, allowFields } = call
  const blocks = nativeBlocks(call.mayWriteCache)
  const passed = Object.entries(body).filter(([name, value]) => {
    if (WRITTEN.has(name) || LEFT_OUT.has(name)) return false
    if (!PASSED.has(name) && !allowFields.includes(name) && !isStandard(name, value)) throw unsupported(name, WHY)
    return true
  })
  const leftOut = Object.keys(body).filter((name) => LEFT_OUT.has(name))
  if (leftOut.length > 0) call.noteDropped(leftOut)
  const { metadata, system, thinking } = body
  return {
    ...Object.fromEntries(passed),
    model,
    max_tokens: outputCap,
    stream: !asksWhole,
    ...(system !== undefined && { system: blocks.content(system) }),
    messages: blocks.messages(body.messages as Fields[]),
    ...(Array.isArray(body.tools) && { tools: toTools(body.tools, call, blocks.marked) }),
    ...(isObject(thinking) && { thinking: toThinking(thinking, outputCap) }),
    ...(isObject(metadata) && typeof metadata.user_id === 'string' && { metadata: { user_id: metadata.user_id } }),
    ...blocks.mark(body.cache_control),
  }
}

const STANDARD_TIERS: ReadonlySet<unknown> = new Set(['auto', 'standard_only'])

/** Whether a field asks for what has the list price. */
function isStandard(name: string, value: unknown): boolean {
  return (name === 'service_tier' && STANDARD_TIERS.has(value)) || (name === 'speed' && value === 'standard')
}

/** Tools of Anthropic's own that the caller runs. Those that Anthropic runs are billed by the call, or read any page. */
const RUN_BY_CALLER = /^(?:bash|text_editor|memory)_\d{8}$/

function toTools(tools: readonly Fields[], { allowFields }: ChatCall, marked: (tool: Fields) => Fields): Fields[] {
  return tools.map((tool, index) => {
    const { type = 'custom' } = tool
    const isFree = type === null || type === 'custom' || RUN_BY_CALLER.test(String(type))
    if (isFree || allowFields.includes('tools')) return marked(tool)
    const path = `tools[${index}].type`
    throw unsupported(path, "must be 'custom': tools that the provider runs may be billed by the call")
  })
}

const LEAST_BUDGET = 1024

/** A cap that was lowered leaves less to think with: Anthropic wants room for an answer after the thoughts. */
function toThinking(thinking: Fields, outputCap: number): Fields {
  const { budget_tokens: budget } = thinking
  if (typeof budget !== 'number' || budget < outputCap || outputCap <= LEAST_BUDGET) return thinking
  return { ...thinking, budget_tokens: outputCap - 1 }
}
