import { isObject, isText } from '../../wire/basics/field-rules.ts'
import type { Rows, Shape } from '../../wire/basics/shape.ts'
import * as is from '../../wire/basics/shape.ts'
import { address, cacheMark, ofProvider } from '../../wire/chat/message-fields.ts'

// The tables of the blocks of Messages: every field that goes upstream in its format, at every depth, is a row here.

const marked = { cache_control: cacheMark }
const STRING = is.needed(is.text, 'a string')
const nonEmpty = (shape: Shape) => is.needed(shape, 'a non-empty string', isText)

export const CITED = is.list(
  is.object({
    ...is.each(is.text, 'type', 'cited_text', 'document_title'),
    ...is.each(is.scalar, 'document_index', 'search_result_index'),
    ...is.each(is.text, 'source', 'title', 'url', 'encrypted_index'),
    ...is.each(is.scalar, 'start_char_index', 'end_char_index', 'start_page_number', 'end_page_number'),
    ...is.each(is.scalar, 'start_block_index', 'end_block_index'),
    file_id: is.leftOut,
  }),
)
const CITATIONS = is.object({ enabled: is.flag })
export const TEXT = { text: STRING, citations: CITED, ...marked }

const BYTES = { media_type: nonEmpty(is.text), data: nonEmpty(is.text) }
const FILE = { file_id: ofProvider('Give the data themselves') }
const URL_SOURCE = { url: nonEmpty(address) }
export const IMAGE_SOURCE = is.variants('type', { base64: BYTES, url: URL_SOURCE, file: FILE })
const IMAGE = {
  source: is.needed(IMAGE_SOURCE, "an object of the type 'base64' or 'url'"),
  transformations: is.native(is.object({ oversized_image: is.word('downsize', 'error') })),
  ...marked,
}

export const blocksOf = (block: Shape): Shape => is.textOr(is.list(block), 'an array of content blocks')
export const blocks = (kinds: Readonly<Record<string, Rows>>): Shape => blocksOf(is.variants('type', kinds))

export const DOCUMENT_SOURCE = is.variants('type', {
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

const STATE_FIELDS = [
  ...['type', 'tab_id', 'opener_tab_id', 'title', 'url', 'download_id', 'filename', 'path', 'error', 'size_bytes'],
]
const REFERENCE = { tool_name: is.text, ...marked }
const RESULT = {
  ...GIVEN,
  tool_reference: REFERENCE,
  browser_state: {
    tabs: is.list(is.object({ ...is.each(is.text, 'tab_id', 'title', 'url'), active: is.flag }), 1000),
    state_changes: is.list(is.object(is.each(is.scalar, ...STATE_FIELDS)), 1000),
    ...marked,
  },
}

const caller = { caller: is.object({ type: is.text, tool_id: is.text }) }
const ERROR = { error_code: is.text, error_message: is.text }

/** Anthropic's own tools whose results this gateway carries. The results of others name files that are stored there. */
const CARRIED = /^(?:web_search|web_fetch|tool_search_tool_(?:regex|bm25))$/
const SERVER_USE = is.object({ ...is.each(is.text, 'type', 'id', 'name'), input: is.jsonObject, ...caller, ...marked })
const serverUse = is.shaped(SERVER_USE.schema, (sent, at) => {
  const name = isObject(sent) ? sent.name : undefined
  return typeof name === 'string' && !CARRIED.test(name) ? at.leaveOut('is not carried') : SERVER_USE(sent, at)
})

const FOUND = {
  web_search_result: is.each(is.text, 'encrypted_content', 'title', 'url', 'page_age'),
} satisfies Record<string, Rows>
const found = is.list(is.variants('type', FOUND), 1000)
const fault = is.variants('type', { web_search_tool_result_error: ERROR })
const searched: Shape = is.shaped({ anyOf: [found, fault] }, (sent, at) =>
  (Array.isArray(sent) ? found : fault)(sent, at),
)

const NATIVE = is.nativeKinds({
  web_search_tool_result: { tool_use_id: is.text, content: searched, ...caller, ...marked },
  web_fetch_tool_result: {
    tool_use_id: is.text,
    content: is.variants('type', {
      web_fetch_result: {
        content: is.object({ type: is.word('document'), ...DOCUMENT }),
        ...is.each(is.text, 'url', 'retrieved_at'),
      },
      web_fetch_tool_result_error: ERROR,
    }),
    ...caller,
    ...marked,
  },
  tool_search_tool_result: {
    tool_use_id: is.text,
    content: is.variants('type', {
      tool_search_tool_search_result: {
        tool_references: is.list(is.object({ type: is.word('tool_reference'), ...REFERENCE }), 1024),
      },
      tool_search_tool_result_error: ERROR,
    }),
    ...marked,
  },
})

const NOT_CARRIED = [
  ...['code_execution_tool_result', 'bash_code_execution_tool_result', 'text_editor_code_execution_tool_result'],
  ...['mcp_tool_use', 'mcp_tool_result', 'mcp_tool_listing', 'advisor_tool_result', 'fallback'],
]

/** A tool of the request by its name. A definition could be that of a tool that Anthropic runs. */
const CHANGE = is.object({
  type: is.text,
  tool: is.object({ type: is.word('tool_reference'), name: is.text }),
  ...marked,
})
const change = is.shaped({ ...is.treated('dropped'), isNative: true }, (sent, at) => {
  const { tool } = sent as { tool?: unknown }
  if (isObject(tool) && tool.type !== 'tool_reference') return at.leaveOut('is not carried')
  at.noteNative('change')
  return CHANGE(sent, at)
})

const BLOCKS = {
  ...GIVEN,
  container_upload: { ...FILE, ...marked },
  tool_use: { id: is.text, name: is.text, input: is.jsonObject, toolset_name: is.text, ...caller, ...marked },
  tool_result: {
    tool_use_id: is.text,
    content: blocks(RESULT),
    is_error: is.flag,
    toolset_name: is.text,
    ...marked,
  },
  thinking: { thinking: is.text, signature: is.text },
  redacted_thinking: { data: is.text },
  compaction: { ...is.each(is.text, 'content', 'encrypted_content', 'signature'), tool_changes: is.dropped, ...marked },
  server_tool_use: serverUse,
  ...NATIVE,
  ...is.each(change, 'tool_addition', 'tool_removal'),
  ...is.each(is.dropped, ...NOT_CARRIED),
} satisfies Record<string, Rows | Shape>

export const BLOCK = is.variants('type', BLOCKS)
