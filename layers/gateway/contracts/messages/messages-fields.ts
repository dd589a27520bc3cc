import { isText } from '../../wire/basics/field-rules.ts'
import type { Rows, Shape } from '../../wire/basics/shape.ts'
import * as is from '../../wire/basics/shape.ts'
import { alias, CHAT_FIELDS, EFFORT, hostedTool, THINKING } from '../../wire/chat/chat-fields.ts'
import { address, cacheMark, MAX_MESSAGES, ofProvider } from '../../wire/chat/message-fields.ts'
import { providerTool } from './hosted-tools.ts'

// The tables of the Messages API: every field that goes upstream in its format, at every depth, is a row here.

const marked = { cache_control: cacheMark }
const STRING = is.needed(is.text, 'a string')
const nonEmpty = (shape: Shape) => is.needed(shape, 'a non-empty string', isText)

export const CITED = is.list(
  is.object({
    ...is.each(is.text, 'type', 'cited_text', 'document_title'),
    ...is.each(is.scalar, 'document_index', 'search_result_index'),
    ...is.each(is.text, 'source', 'title'),
    ...is.each(is.scalar, 'start_char_index', 'end_char_index', 'start_page_number', 'end_page_number'),
    ...is.each(is.scalar, 'start_block_index', 'end_block_index'),
    file_id: is.leftOut,
  }),
)
const CITATIONS = is.object({ enabled: is.flag })
const TEXT = { text: STRING, citations: CITED, ...marked }

const BYTES = { media_type: nonEmpty(is.text), data: nonEmpty(is.text) }
const FILE = { file_id: ofProvider('Give the data themselves') }
const URL_SOURCE = { url: nonEmpty(address) }
const IMAGE_SOURCE = is.variants('type', { base64: BYTES, url: URL_SOURCE, file: FILE })
const IMAGE = { source: is.needed(IMAGE_SOURCE, "an object of the type 'base64' or 'url'"), ...marked }

const blocks = (kinds: Record<string, Rows>): Shape =>
  is.textOr(is.list(is.variants('type', kinds)), 'an array of content blocks')

const DOCUMENT_SOURCE = is.variants('type', {
  base64: BYTES,
  url: URL_SOURCE,
  text: { media_type: is.text, data: STRING },
  content: { content: is.needed(blocks({ text: TEXT, image: IMAGE }), 'a string or an array') },
  file: FILE,
})

const DOCUMENT = {
  source: is.needed(DOCUMENT_SOURCE, "an object with a 'type'"),
  title: is.text,
  context: is.text,
  citations: CITATIONS,
  ...marked,
}

const SEARCH_RESULT = {
  source: STRING,
  title: STRING,
  content: is.needed(blocks({ text: TEXT }), 'an array', Array.isArray),
  citations: CITATIONS,
  ...marked,
}

const GIVEN = { text: TEXT, image: IMAGE, document: DOCUMENT, search_result: SEARCH_RESULT }

const BLOCKS = {
  ...GIVEN,
  container_upload: FILE,
  tool_use: { id: is.text, name: is.text, input: is.jsonObject, caller: is.leftOut, ...marked },
  tool_result: { tool_use_id: is.text, content: blocks(GIVEN), is_error: is.flag, ...marked },
  thinking: { thinking: is.text, signature: is.text },
  redacted_thinking: { data: is.text },
} satisfies Record<string, Rows>

const ROLES = ['user', 'assistant', 'system']
const MESSAGE = is.object({
  role: is.needed(is.word(...ROLES), ROLES),
  content: is.needed(blocks(BLOCKS), 'a string or an array'),
})

/** Tools that the caller runs. Tools that Anthropic runs are billed by the call, or read any page. */
const customTool = is.object({
  type: is.word('custom'),
  name: nonEmpty(is.text),
  description: is.text,
  input_schema: is.needed(is.jsonObject, 'an object'),
  ...is.each(is.flag, 'strict', 'eager_input_streaming', 'defer_loading'),
  ...marked,
})
const OWN_TOOL = /^(?:bash|text_editor|memory)_\d{8}$/
const anthropicTool = is.object({ type: is.text, name: is.text, max_characters: is.integer(1), ...marked })

const otherTool = hostedTool("tools of type 'custom': those that the provider runs may be billed by the call", 'custom')

const tool: Shape = is.shaped({ anyOf: [customTool, anthropicTool] }, (sent, at) => {
  const type = (sent as { type?: unknown } | null)?.type ?? 'custom'
  if (type === 'custom') return customTool(sent, at)
  const hosted = providerTool(sent)
  if (hosted) return hosted(sent, at)
  if (typeof type === 'string' && OWN_TOOL.test(type)) return anthropicTool(sent, at)
  return otherTool(sent, at)
})

const NO_SERVERS = 'is called by the provider, and its calls cannot be bounded'

const FORMAT = is.variants('type', { json_schema: { schema: is.needed(is.jsonObject, 'an object') } })

/** Fields of chat for which this contract has others. All other fields of chat are accepted. */
const OTHER_WORDS = new Set([
  ...['n', 'functions', 'function_call', 'stop', 'response_format', 'reasoning_effort', 'max_completion_tokens'],
  ...['stream_options', 'prompt_cache_retention', 'parallel_tool_calls'],
])

export const MESSAGES_FIELDS = is.knownRows({
  ...Object.fromEntries(Object.entries(CHAT_FIELDS).filter(([name]) => !OTHER_WORDS.has(name))),
  messages: is.list(MESSAGE, MAX_MESSAGES),
  system: blocks({ text: TEXT }),
  temperature: is.number(0, 1),
  top_k: is.integer(0),
  stop_sequences: is.list(is.text),
  metadata: is.object({ user_id: alias }),
  tools: is.list(tool, 1024),
  tool_choice: is.object({
    type: is.word('auto', 'any', 'tool', 'none'),
    name: is.text,
    disable_parallel_tool_use: is.flag,
  }),
  thinking: THINKING,
  output_config: is.object({ effort: EFFORT, format: FORMAT }),
  cache_control: cacheMark,
  // Anthropic may serve `auto` in its priority tier.
  service_tier: is.tier(['standard_only'], { auto: 'priority' }, 'messages'),
  speed: is.tier(['standard'], { fast: 'fast' }, 'messages'),
  mcp_servers: is.shaped({ type: 'array' }, (sent, at) => (sent === null ? undefined : at.leaveOut(NO_SERVERS))),
  // Hints that need a beta header, which this gateway does not send.
  ...is.each(is.leftOut, 'context_management', 'diagnostics'),
})
