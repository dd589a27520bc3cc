import type { JsonObject } from '../../domain/basics/json-object.ts'
import { closest } from '../../wire/basics/closest.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import type { Read, Rows, Shape } from '../../wire/basics/shape.ts'
import * as is from '../../wire/basics/shape.ts'
import { CHAT_FIELDS, EFFORT, METADATA, MODEL, SUMMARY, VERBOSITY } from '../../wire/chat/chat-fields.ts'
import { address, DETAIL, data, MAX_MESSAGES, ofProvider } from '../../wire/chat/message-fields.ts'
import { hostedChoice, providerTool } from './hosted-tools.ts'

// The tables of Responses: every field that goes upstream in its format, at every depth, is a row here.

const STRING = is.needed(is.text, 'a string')
const nonEmpty = (shape: Shape) => is.needed(shape, 'a string that is not empty', isText)
const NAME = nonEmpty(is.text)

const GIVEN = {
  input_text: { text: STRING },
  input_image: { image_url: nonEmpty(address), detail: DETAIL, file_id: ofProvider("Give the picture in 'image_url'") },
  input_file: {
    filename: is.text,
    file_data: nonEmpty(data),
    file_id: ofProvider("Give the file in 'file_data'"),
    file_url: is.never("is not taken. Give the file itself in 'file_data'"),
  },
  input_audio: { input_audio: is.needed(is.object({ data, format: is.text }), 'an object') },
} satisfies Record<string, Rows>

/** The fields that answers have beside their text are not read again. */
const SAID = {
  output_text: { text: STRING, annotations: is.leftOut, logprobs: is.leftOut },
  input_text: { text: STRING },
  refusal: { refusal: STRING },
} satisfies Record<string, Rows>

const partsOf = (kinds: Record<string, Rows>): Shape =>
  is.needed(
    is.textOr(is.list(is.variants('type', kinds)), 'an array of content parts'),
    'a string or an array of content parts',
  )
const output = partsOf(GIVEN)

/** An upstream that stores nothing knows no ids and no states of items. */
const stored = { id: is.leftOut, status: is.leftOut }
const THOUGHT = is.list(is.object({ type: is.word('summary_text', 'reasoning_text'), text: is.text }))
const CALL = { call_id: NAME, name: NAME, namespace: is.text, ...stored }

const ROLES = ['user', 'assistant', 'system', 'developer']
const ROLE = is.needed(is.word(...ROLES), ROLES)
const messageOf = (content: Shape) =>
  is.object({ type: is.word('message'), role: ROLE, content, phase: is.leftOut, ...stored })
const said = messageOf(partsOf(SAID))
const given = messageOf(output)
const message: Shape = is.shaped({ anyOf: [said, given] }, (sent, at) =>
  ((sent as { role?: unknown }).role === 'assistant' ? said : given)(sent, at),
)

const ITEMS = {
  message,
  reasoning: { id: is.text, summary: THOUGHT, content: THOUGHT, encrypted_content: is.text, status: is.leftOut },
  function_call: { arguments: STRING, ...CALL },
  function_call_output: { call_id: NAME, output, ...stored },
  custom_tool_call: { input: STRING, ...CALL },
  custom_tool_call_output: { call_id: NAME, output, ...stored },
} satisfies Record<string, Rows | Shape>

const NO_REFERENCE =
  "refers to an item of an earlier answer, and this gateway stores none. Send the item itself; clients do so with 'store': false (in the AI SDK: providerOptions: { openai: { store: false } })"

const otherItem: Read = (sent, at) => {
  const { type, role, id } = isObject(sent) ? sent : {}
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
const item = is.variants('type', ITEMS, otherItem)

const FORMAT = is.object({ type: is.word('text', 'grammar'), syntax: is.text, definition: is.text })
const TOOL = { name: NAME, description: is.text }
const FUNCTION = { ...TOOL, parameters: is.jsonObject, strict: is.flag, defer_loading: is.leftOut }
const CUSTOM = { ...TOOL, format: FORMAT, defer_loading: is.leftOut }

/** A tool of another type is one that OpenAI runs, and bills, beside the model; or its type is written wrong. */
const otherTool =
  (...types: readonly string[]): Read =>
  (sent, at) => {
    if (typeof sent !== 'object') return at.refuse("a tool: an object with a 'type'", sent)
    const hosted = types.includes('namespace') ? providerTool(sent) : undefined
    if (hosted) return hosted(sent, at)
    const { type } = sent as JsonObject
    at.enter('type')
    const isHosted = typeof type === 'string' && /^[a-z0-9_]{1,40}$/.test(type) && closest(type, types) === undefined
    if (!isHosted) return at.refuse(types, type)
    const codex = type.startsWith('web_search') ? ' (in Codex: web_search = "disabled" in config.toml)' : ''
    return at.forbid(
      `is '${type}', a tool that a provider runs and bills by itself. Leave it out${codex}, or offer a function of your own that does the same`,
    )
  }

const OWN_TOOLS = { function: FUNCTION, custom: CUSTOM } satisfies Record<string, Rows>
const TOOLS = {
  ...OWN_TOOLS,
  namespace: {
    ...TOOL,
    tools: is.needed(is.list(is.variants('type', OWN_TOOLS, otherTool('function', 'custom'))), 'an array'),
  },
} satisfies Record<string, Rows>

const NAMED = { name: NAME, namespace: is.text }
const MODES = ['auto', 'required']
const noChoice: Read = (sent, at) => {
  at.enter('type')
  return at.refuse(Object.keys(CHOICES), (sent as JsonObject).type, sent)
}
const CHOSEN = { function: NAMED, custom: NAMED } satisfies Record<string, Rows>
const CHOICES = {
  ...CHOSEN,
  allowed_tools: {
    mode: is.needed(is.word(...MODES), MODES),
    tools: is.needed(
      is.list(is.variants('type', CHOSEN, hostedChoice(noChoice)), 1024),
      'an array of at most 1024 tools',
    ),
  },
} satisfies Record<string, Rows>

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
  input: is.textOr(is.list(item, MAX_MESSAGES), 'a non-empty array of items'),
  instructions: is.text,
  max_output_tokens: is.integer(1),
  max_tool_calls: is.integer(1),
  top_logprobs: is.integer(0, 20),
  stream: is.flag,
  stream_options: is.object({ include_obfuscation: is.flag }),
  store: is.flag,
  parallel_tool_calls: is.flag,
  tools: is.list(is.variants('type', TOOLS, otherTool('function', 'custom', 'namespace')), 1024),
  tool_choice: is.textOr(is.variants('type', CHOICES, hostedChoice(noChoice)), 'an object', 'none', 'auto', 'required'),
  text: is.object({ format: is.variants('type', FORMATS), verbosity: VERBOSITY }),
  // There are other ways of reasoning, at other prices.
  reasoning: is.object({ effort: EFFORT, summary: SUMMARY, generate_summary: SUMMARY }),
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
