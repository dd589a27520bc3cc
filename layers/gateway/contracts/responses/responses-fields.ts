import { closest } from '../../wire/basics/closest.ts'
import { boolean, integer, number, withSchema } from '../../wire/basics/field-rules.ts'
import type { Reading } from '../../wire/basics/reading.ts'
import {
  flag,
  jsonObject,
  knownRows,
  leftOut,
  list,
  never,
  noOther,
  object,
  type Read,
  type Rows,
  type Shape,
  text,
  textOr,
  value,
  variants,
  word,
} from '../../wire/basics/shape.ts'
import {
  alias,
  CACHE_RETENTION,
  CHAT_FIELDS,
  EFFORT,
  METADATA,
  MODEL,
  SERVICE_TIER,
  SUMMARY,
  VERBOSITY,
} from '../../wire/chat/chat-fields.ts'
import { address, DETAIL, data, MAX_MESSAGES, ofProvider } from '../../wire/chat/message-fields.ts'

// The tables of Responses: every field that goes upstream in its format, at every depth, is a row here.

const GIVEN = {
  input_text: { text },
  input_image: { image_url: address, detail: DETAIL, file_id: ofProvider("Give the picture in 'image_url'") },
  input_file: {
    filename: text,
    file_data: data,
    file_id: ofProvider("Give the file in 'file_data'"),
    file_url: never("is not taken. Give the file itself in 'file_data'"),
  },
  input_audio: { input_audio: object({ data, format: text }) },
} satisfies Record<string, Rows>

/** The fields that answers have beside their text are not read again. */
const SAID = {
  output_text: { text, annotations: leftOut, logprobs: leftOut },
  input_text: { text },
  refusal: { refusal: text },
} satisfies Record<string, Rows>

const partsOf = (kinds: Record<string, Rows>): Shape =>
  textOr(list(variants('type', kinds, noOther('type', kinds))), 'an array of content parts')
const output = partsOf(GIVEN)

/** An upstream that stores nothing knows no ids and no states of items. */
const stored = { id: leftOut, status: leftOut }
const THOUGHT = list(object({ type: word('summary_text', 'reasoning_text'), text }))
const CALL = { call_id: text, name: text, namespace: text, ...stored }

const ROLE = word('user', 'assistant', 'system', 'developer')
const messageOf = (content: Shape) => object({ type: word('message'), role: ROLE, content, phase: leftOut, ...stored })
const said = messageOf(partsOf(SAID))
const given = messageOf(output)
const message: Shape = withSchema({ anyOf: [said, given] }, (sent: unknown, at: Reading) =>
  ((sent as { role?: unknown }).role === 'assistant' ? said : given)(sent, at),
)

const ITEMS = {
  message,
  reasoning: { id: text, summary: THOUGHT, content: THOUGHT, encrypted_content: text, status: leftOut },
  function_call: { arguments: text, ...CALL },
  function_call_output: { call_id: text, output, ...stored },
  custom_tool_call: { input: text, ...CALL },
  custom_tool_call_output: { call_id: text, output, ...stored },
} satisfies Record<string, Rows | Shape>

const NO_REFERENCE =
  "refers to an item of an earlier answer, and this gateway stores none. Send the item itself; clients do so with 'store': false (in the AI SDK: providerOptions: { openai: { store: false } })"

const otherItem: Read = (sent, at) => {
  const { type, role, id } = (typeof sent === 'object' && sent !== null ? sent : {}) as Record<string, unknown>
  if (type === 'item_reference' || (type === undefined && role === undefined && id !== undefined)) {
    return at.forbid(NO_REFERENCE)
  }
  if (type === undefined && role !== undefined) return message(sent, at)
  if (typeof sent !== 'object') return at.refuse("an item: an object with a 'type'", sent)
  at.enter('type')
  const kinds = Object.keys(ITEMS)
  const isHosted = typeof type === 'string' && HOSTED.test(type) && closest(type, kinds) === undefined
  return isHosted ? at.forbid(NOT_HOSTED) : at.refuse(kinds, type, sent)
}
const HOSTED = /_(?:call|output|tools|approval_request|approval_response)$/
const NOT_HOSTED = `is of a tool that OpenAI hosts. They are not offered here, so leave their items out. The others are ${Object.keys(ITEMS).join(', ')}`
const item = variants('type', ITEMS, otherItem)

const FORMAT = object({ type: word('text', 'grammar'), syntax: text, definition: text })
const FUNCTION = { name: text, description: text, parameters: jsonObject, strict: flag, defer_loading: leftOut }
const CUSTOM = { name: text, description: text, format: FORMAT, defer_loading: leftOut }

/** Other types pass here: `readTools` refuses them, with the reason. */
const otherTool: Read = (sent) => (typeof sent === 'object' && sent !== null ? onlyType(sent) : sent)
const onlyType = ({ type }: { readonly type?: unknown }) => ({ type })

const OWN_TOOLS = { function: FUNCTION, custom: CUSTOM } satisfies Record<string, Rows>
const TOOLS = {
  ...OWN_TOOLS,
  namespace: { name: text, description: text, tools: list(variants('type', OWN_TOOLS, otherTool)) },
} satisfies Record<string, Rows>

const NAMED = { name: text, namespace: text }
const CHOSEN = { function: NAMED, custom: NAMED } satisfies Record<string, Rows>
const CHOICES = {
  ...CHOSEN,
  allowed_tools: {
    mode: word('auto', 'required'),
    tools: list(variants('type', CHOSEN, noOther('type', CHOSEN)), 1024),
  },
} satisfies Record<string, Rows>

const FORMATS = {
  text: {},
  json_object: {},
  json_schema: { name: text, description: text, schema: jsonObject, strict: flag },
} satisfies Record<string, Rows>

const INCLUDABLE = [
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
  'message.input_image.image_url',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
]

/** Refuses a field that needs a store, with an alternative. */
const needsStore = (instead: string) => never(`must be left out: this gateway stores nothing. ${instead}`)

const OWN: Rows = {
  model: MODEL,
  input: textOr(list(item, MAX_MESSAGES), 'a non-empty array of items'),
  instructions: text,
  max_output_tokens: value(integer(1)),
  max_tool_calls: value(integer(1)),
  temperature: value(number(0, 2)),
  top_p: value(number(0, 1)),
  top_logprobs: value(integer(0, 20)),
  stream: flag,
  stream_options: object({ include_obfuscation: flag }),
  store: flag,
  parallel_tool_calls: value(boolean),
  tools: list(variants('type', TOOLS, otherTool), 1024),
  tool_choice: textOr(variants('type', CHOICES, noOther('type', CHOICES)), 'an object', 'none', 'auto', 'required'),
  text: object({ format: variants('type', FORMATS, noOther('type', FORMATS)), verbosity: VERBOSITY }),
  // There are other ways of reasoning, at other prices.
  reasoning: object({ effort: EFFORT, summary: SUMMARY, generate_summary: SUMMARY }),
  include: list(word(...INCLUDABLE), 100),
  truncation: word('auto', 'disabled'),
  metadata: METADATA,
  client_metadata: leftOut,
  user: alias,
  safety_identifier: alias,
  prompt_cache_key: alias,
  prompt_cache_retention: CACHE_RETENTION,
  service_tier: SERVICE_TIER,
  background: value(
    withSchema({ const: false }, (sent: unknown) =>
      sent === false ? undefined : "false: this gateway stores no answers to be fetched later. Use 'stream': true",
    ),
  ),
  previous_response_id: needsStore("Send the earlier items in 'input', as clients do with 'store': false"),
  conversation: needsStore("Send the conversation's items in 'input'"),
  prompt: needsStore("Send the prompt's own text in 'instructions' and 'input'"),
}

/** Fields that this contract does not have may still be known to a provider: they are treated as in Chat Completions. */
export const RESPONSES_FIELDS = knownRows({ ...CHAT_FIELDS, ...OWN })
export const OWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(OWN))
