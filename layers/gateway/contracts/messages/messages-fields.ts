import * as is from '../../wire/basics/shape.ts'
import { alias, CHAT_FIELDS, EFFORT, THINKING } from '../../wire/chat/chat-fields.ts'
import { cacheMark, MAX_MESSAGES } from '../../wire/chat/message-fields.ts'
import { BLOCK, blocks, blocksOf, TEXT } from './block-fields.ts'
import { TOOL } from './tool-fields.ts'

// The table of Messages: every field that goes upstream in its format is a row here, in block-fields.ts or in tool-fields.ts.

const ROLES = ['user', 'assistant', 'system']
const MESSAGE = is.object({
  role: is.needed(is.word(...ROLES), ROLES),
  content: is.needed(blocksOf(BLOCK), 'a string or an array'),
  output_config: is.native(is.object({ effort: EFFORT })),
  clear_at: is.native(is.word('next_user_message', 'never')),
})

const FORMAT = is.variants('type', { json_schema: { schema: is.needed(is.jsonObject, 'an object') } })

const AMOUNT = is.object({ type: is.text, value: is.integer(0) })
const NAMES_OR_FLAG = is.shaped({ anyOf: [is.flag, is.list(is.text)] }, (sent, at) =>
  (Array.isArray(sent) ? is.list(is.text) : is.flag)(sent, at),
)
/** Anthropic shortens the prompt by these, or summarizes it in tokens that it counts. */
const EDITS = is.variants('type', {
  clear_tool_uses_20250919: {
    ...is.each(AMOUNT, 'clear_at_least', 'keep', 'trigger'),
    clear_tool_inputs: NAMES_OR_FLAG,
    exclude_tools: is.list(is.text),
  },
  clear_thinking_20251015: { keep: is.textOr(AMOUNT, 'an object', 'all') },
  compact_20260112: { instructions: is.text, pause_after_compaction: is.flag, trigger: AMOUNT },
})

/** Fields of chat for which this contract has others. All other fields of chat are accepted. */
const OTHER_WORDS = new Set([
  ...['n', 'functions', 'function_call', 'stop', 'response_format', 'reasoning_effort', 'max_completion_tokens'],
  ...['stream_options', 'prompt_cache_retention', 'prompt_cache_options', 'parallel_tool_calls'],
])

export const MESSAGES_FIELDS = is.knownRows({
  ...Object.fromEntries(Object.entries(CHAT_FIELDS).filter(([name]) => !OTHER_WORDS.has(name))),
  messages: is.list(MESSAGE, MAX_MESSAGES),
  system: blocks({ text: TEXT }),
  temperature: is.number(0, 1),
  top_k: is.integer(0),
  stop_sequences: is.list(is.text),
  metadata: is.object({ user_id: alias }),
  tools: is.list(TOOL, 1024),
  tool_choice: is.object({
    type: is.word('auto', 'any', 'tool', 'none'),
    name: is.text,
    disable_parallel_tool_use: is.flag,
  }),
  thinking: THINKING,
  output_config: is.object({
    effort: EFFORT,
    format: FORMAT,
    task_budget: is.native(is.object({ type: is.text, ...is.each(is.integer(0), 'total', 'remaining') })),
  }),
  // The older name of output_config.format.
  output_format: FORMAT,
  cache_control: cacheMark,
  // Anthropic may serve `auto` in its priority tier.
  service_tier: is.tier(['standard_only'], { auto: 'priority' }, 'messages'),
  speed: is.tier(['standard'], { fast: 'fast' }, 'messages'),
  // The provider would call them, and its calls could not be bounded.
  mcp_servers: is.dropped,
  context_management: is.native(is.object({ edits: is.list(EDITS, 10) })),
  compaction: is.native(is.object({ type: is.word('summarize'), instructions: is.text })),
  diagnostics: is.leftOut,
  betas: is.leftOut,
  // These name what is stored at the provider for all callers together, or another place, model or payer.
  ...is.each(is.dropped, 'container', 'inference_geo', 'fallbacks', 'fallback_credit_token', 'billing_policy'),
  ...is.each(is.dropped, 'thread', 'user_profile_id', 'workspace_id'),
})
