import { isText } from '../../wire/basics/field-rules.ts'
import {
  flag,
  integer,
  jsonObject,
  knownRows,
  leftOut,
  list,
  needed,
  number,
  object,
  option,
  type Rows,
  type Shape,
  scalar,
  shaped,
  text,
  textOr,
  variants,
  word,
} from '../../wire/basics/shape.ts'
import { alias, CHAT_FIELDS, EFFORT, hostedTool, THINKING } from '../../wire/chat/chat-fields.ts'
import { address, cacheMark, MAX_MESSAGES, ofProvider } from '../../wire/chat/message-fields.ts'

// The tables of the Messages API: every field that goes upstream in its format, at every depth, is a row here.

const marked = { cache_control: cacheMark }
const STRING = needed(text, 'a string')
const nonEmpty = (shape: Shape) => needed(shape, 'a non-empty string', isText)

export const CITED = list(
  object({
    type: text,
    cited_text: text,
    document_title: text,
    document_index: scalar,
    search_result_index: scalar,
    source: text,
    title: text,
    start_char_index: scalar,
    end_char_index: scalar,
    start_page_number: scalar,
    end_page_number: scalar,
    start_block_index: scalar,
    end_block_index: scalar,
    file_id: leftOut,
  }),
)
const CITATIONS = object({ enabled: flag })
const TEXT = { text: STRING, citations: CITED, ...marked }

const BYTES = { media_type: nonEmpty(text), data: nonEmpty(text) }
const FILE = { file_id: ofProvider('Give the data themselves') }

const URL_SOURCE = { url: nonEmpty(address) }

const IMAGE_SOURCES = { base64: BYTES, url: URL_SOURCE, file: FILE } satisfies Record<string, Rows>
const IMAGE = {
  source: needed(variants('type', IMAGE_SOURCES), "an object of the type 'base64' or 'url'"),
  ...marked,
}

const blocks = (kinds: Record<string, Rows>): Shape =>
  textOr(list(variants('type', kinds)), 'an array of content blocks')

const DOCUMENT_SOURCES = {
  base64: BYTES,
  url: URL_SOURCE,
  text: { media_type: text, data: STRING },
  content: { content: needed(blocks({ text: TEXT, image: IMAGE }), 'a string or an array') },
  file: FILE,
} satisfies Record<string, Rows>

const DOCUMENT = {
  source: needed(variants('type', DOCUMENT_SOURCES), "an object with a 'type'"),
  title: text,
  context: text,
  citations: CITATIONS,
  ...marked,
}

const SEARCH_RESULT = {
  source: STRING,
  title: STRING,
  content: needed(blocks({ text: TEXT }), 'an array', Array.isArray),
  citations: CITATIONS,
  ...marked,
}

const GIVEN = { text: TEXT, image: IMAGE, document: DOCUMENT, search_result: SEARCH_RESULT }

const BLOCKS = {
  ...GIVEN,
  container_upload: FILE,
  tool_use: { id: text, name: text, input: jsonObject, caller: leftOut, ...marked },
  tool_result: { tool_use_id: text, content: blocks(GIVEN), is_error: flag, ...marked },
  thinking: { thinking: text, signature: text },
  redacted_thinking: { data: text },
} satisfies Record<string, Rows>

const ROLES = ['user', 'assistant', 'system']
const MESSAGE = object({
  role: needed(word(...ROLES), ROLES),
  content: needed(blocks(BLOCKS), 'a string or an array'),
})

/** Tools that the caller runs. Tools that Anthropic runs are billed by the call, or read any page. */
const CUSTOM: Rows = {
  type: word('custom'),
  name: nonEmpty(text),
  description: text,
  input_schema: needed(jsonObject, 'an object'),
  strict: flag,
  eager_input_streaming: flag,
  defer_loading: flag,
  ...marked,
}
const OWN_TOOL = /^(?:bash|text_editor|memory)_\d{8}$/
const ANTHROPICS: Rows = { type: text, name: text, max_characters: integer(1), ...marked }

const customTool = object(CUSTOM)
const anthropicTool = object(ANTHROPICS)

const otherTool = hostedTool("tools of type 'custom': those that the provider runs may be billed by the call", 'custom')

const tool: Shape = shaped({ anyOf: [customTool, anthropicTool] }, (sent, at) => {
  const type = (sent as { type?: unknown } | null)?.type ?? 'custom'
  if (type === 'custom') return customTool(sent, at)
  if (typeof type === 'string' && OWN_TOOL.test(type)) return anthropicTool(sent, at)
  return otherTool(sent, at)
})

const FORMATS = { json_schema: { schema: needed(jsonObject, 'an object') } } satisfies Record<string, Rows>

/** Fields of chat for which this contract has others. All other fields of chat are accepted. */
const OTHER_WORDS = new Set([
  ...['n', 'functions', 'function_call', 'stop', 'response_format', 'reasoning_effort', 'max_completion_tokens'],
  ...['stream_options', 'prompt_cache_retention', 'parallel_tool_calls'],
])
const OF_CHAT = Object.fromEntries(Object.entries(CHAT_FIELDS).filter(([name]) => !OTHER_WORDS.has(name)))

export const MESSAGES_FIELDS = knownRows({
  ...OF_CHAT,
  messages: list(MESSAGE, MAX_MESSAGES),
  system: blocks({ text: TEXT }),
  temperature: number(0, 1),
  top_k: integer(0),
  stop_sequences: list(text),
  metadata: object({ user_id: alias }),
  tools: list(tool, 1024),
  tool_choice: object({
    type: word('auto', 'any', 'tool', 'none'),
    name: text,
    disable_parallel_tool_use: flag,
  }),
  thinking: THINKING,
  output_config: object({ effort: EFFORT, format: variants('type', FORMATS) }),
  cache_control: cacheMark,
  service_tier: option('auto', 'standard_only'),
  speed: option('standard'),
  // Hints that need a beta header, which this gateway does not send.
  context_management: leftOut,
  diagnostics: leftOut,
})
