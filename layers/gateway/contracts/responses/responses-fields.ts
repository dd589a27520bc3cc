import type { Rows } from '../../wire/basics/shape.ts'
import * as is from '../../wire/basics/shape.ts'
import { CHAT_FIELDS, EFFORT, METADATA, MODEL, SUMMARY, VERBOSITY } from '../../wire/chat/chat-fields.ts'
import { MAX_MESSAGES } from '../../wire/chat/message-fields.ts'
import { ITEM } from './item-fields.ts'
import { NAME, TOOL_CHOICE, TOOL_LIST } from './tool-fields.ts'

// The table of Responses: every field that goes upstream in its format is a row here, in item-fields.ts or in tool-fields.ts.

const FORMATS = {
  text: {},
  json_object: {},
  json_schema: { name: NAME, description: is.text, schema: is.needed(is.jsonObject, 'an object'), strict: is.flag },
} satisfies Record<string, Rows>

const INCLUDABLE = [
  ...['reasoning.encrypted_content', 'message.output_text.logprobs', 'message.input_image.image_url'],
  ...['file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources'],
  ...['code_interpreter_call.outputs', 'computer_call_output.output.image_url'],
]

const needsStore = (instead: string) => is.never(`must be left out: this gateway stores nothing. ${instead}`)

const OWN: Rows = {
  model: MODEL,
  input: is.textOr(is.list(ITEM, MAX_MESSAGES), 'a non-empty array of items'),
  instructions: is.text,
  max_output_tokens: is.integer(1),
  max_tool_calls: is.integer(1),
  top_logprobs: is.integer(0, 20),
  stream: is.flag,
  stream_options: is.object({ include_obfuscation: is.flag }),
  store: is.flag,
  parallel_tool_calls: is.flag,
  tools: TOOL_LIST,
  tool_choice: TOOL_CHOICE,
  text: is.object({ format: is.variants('type', FORMATS), verbosity: VERBOSITY }),
  reasoning: is.object({
    effort: EFFORT,
    summary: SUMMARY,
    generate_summary: SUMMARY,
    context: is.native(is.word('auto', 'current_turn', 'all_turns')),
    mode: is.native(is.text),
  }),
  context_management: is.native(
    is.list(is.object({ type: is.word('compaction'), compact_threshold: is.integer(1) }), 10),
  ),
  image: is.native(is.object({ context_compression: is.word('auto', 'enabled', 'disabled') })),
  access_programs: is.dropped,
  include: is.list(is.word(...INCLUDABLE), 100),
  truncation: is.word('auto', 'disabled'),
  metadata: METADATA,
  client_metadata: is.leftOut,
  background: is.plain(
    { const: false },
    "false: this gateway stores no answers to be fetched later. Use 'stream': true",
    (sent) => sent === false,
  ),
  previous_response_id: needsStore("Send the earlier items in 'input', as clients do with 'store': false"),
  conversation: needsStore("Send the conversation's items in 'input'"),
  prompt: needsStore("Send the prompt's own text in 'instructions' and 'input'"),
}

/** All other fields are those of Chat Completions: this contract has them, too, or a provider may know them. */
export const RESPONSES_FIELDS = is.knownRows({ ...CHAT_FIELDS, ...OWN })
export const OWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(OWN))
