import { isObject, isText } from '../basics/field-rules.ts'
import {
  flag,
  hint,
  integer,
  json,
  jsonObject,
  leftOut,
  list,
  number,
  object,
  option,
  paid,
  plain,
  priced,
  type Read,
  type Rows,
  record,
  type Shape,
  scalar,
  shaped,
  text,
  textOr,
  treated,
  variants,
  word,
} from '../basics/shape.ts'
import { cacheMark, MESSAGES } from './message-fields.ts'

// The tables of Chat Completions: every field that goes upstream is a row here or in message-fields.ts, and nothing else goes.

/** The caller's own name for somebody or something, which goes out as one that no other caller can have. */
export const alias: Shape = shaped({ type: 'string', ...treated('aliased') }, (sent, at) =>
  typeof sent === 'string' ? at.alias(sent) : text(sent, at),
)

const SCHEMA = object({ name: text, description: text, schema: jsonObject, strict: flag })

const FORMATS = {
  text: {},
  json_object: { schema: jsonObject },
  json_schema: { json_schema: SCHEMA },
} satisfies Record<string, Rows>

const marked = { cache_control: cacheMark }

const GRAMMAR = object({ type: word('text', 'grammar'), grammar: object({ syntax: text, definition: text }) })
const FUNCTION = { name: text, description: text, parameters: jsonObject, strict: flag, ...marked }

/** A tool of another kind, such as a search, may be billed by the call. */
export const hostedTool =
  (wanted: string, ...types: readonly string[]): Read =>
  (sent, at) =>
    isObject(sent) ? at.dearer(wanted, sent.type, types) : at.refuse("a tool: an object with a 'type'", sent)

/** Tools that the caller runs. Hosted ones, such as a search, are billed by the call. */
const TOOLS = {
  function: { function: object(FUNCTION), ...marked },
  custom: { custom: object({ name: text, description: text, format: GRAMMAR }), ...marked },
} satisfies Record<string, Rows>

const NAMED = {
  function: { function: object({ name: text }) },
  custom: { custom: object({ name: text }) },
} satisfies Record<string, Rows>
const ALLOWED_TOOLS = object({
  mode: word('auto', 'required'),
  tools: list(variants('type', NAMED), 1024),
})
const CHOICES = { ...NAMED, allowed_tools: { allowed_tools: ALLOWED_TOOLS } }

/** `any` is Mistral's word for `required`. */
const CHOICE_WORDS = ['none', 'auto', 'required', 'any']

const isAllText = (sent: unknown) => Array.isArray(sent) && sent.every((modality) => modality === 'text')

const STOP = shaped({ anyOf: [text, { type: 'array', items: text }] }, (sent, at) => {
  if (!Array.isArray(sent))
    return sent === null || typeof sent === 'string' ? text(sent, at) : at.refuse('a string or an array', sent)
  const bad = sent.findIndex((one) => typeof one !== 'string')
  return bad < 0 ? sent : at.refuse(`a string or an array whose element ${bad} is a string`, sent)
})

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default', 'auto']
export const EFFORT = option(...EFFORTS)
export const VERBOSITIES = ['low', 'medium', 'high']
export const VERBOSITY = option(...VERBOSITIES)
export const SUMMARY = option('auto', 'concise', 'detailed', 'none')
const CACHE_RETENTION = option('in_memory', 'in-memory', '24h')
export const THINKING: Shape = object({
  type: option('enabled', 'disabled', 'adaptive', 'auto'),
  budget_tokens: integer(0),
  display: option('summarized', 'omitted'),
  clear_thinking: flag,
})

/** The names that providers give to the service tier at their list price. */
const SERVICE_TIER = option('auto', 'default', 'on_demand')

/** Arguments of the chat templates of open models. With other arguments a template can make a prompt of any length. */
const TEMPLATE_ARGUMENTS = object({
  enable_thinking: flag,
  thinking: flag,
  clear_thinking: flag,
  preserve_thinking: flag,
  thinking_budget: integer(0),
  reasoning_effort: word('none', 'minimal', 'low', 'medium', 'high'),
  add_generation_prompt: flag,
  continue_final_message: flag,
})

export const MODEL_WANTED = 'the id of a model; GET /v1/models lists them'
export const MODEL = plain({ type: 'string', minLength: 1 }, MODEL_WANTED, isText)

/** OpenAI accepts 16. */
export const METADATA = record(scalar, 64)

const REAL = number(-1e9, 1e9)
const INTEGER = integer(Number.MIN_SAFE_INTEGER)
const TEXTS = list(text)
const TOKEN_IDS = list(integer(0))
const CAP = integer(1)

export const SAMPLING_FIELDS: Rows = {
  temperature: number(0, 2),
  top_p: number(0, 1),
  n: integer(1, 128),
  stop: STOP,
  presence_penalty: hint(number(-2, 2)),
  frequency_penalty: hint(number(-2, 2)),
  seed: hint(INTEGER),
  logit_bias: record(REAL, 10_000),
  response_format: variants('type', FORMATS),
  user: alias,
  metadata: hint(METADATA),
  top_k: INTEGER,
  min_p: hint(REAL),
  top_a: hint(REAL),
  typical_p: hint(REAL),
  repetition_penalty: hint(REAL),
  repeat_penalty: hint(REAL),
  repeat_last_n: hint(INTEGER),
  min_tokens: integer(0),
  stop_token_ids: TOKEN_IDS,
  ignore_eos: flag,
  include_stop_str_in_output: flag,
  skip_special_tokens: hint(flag),
  spaces_between_special_tokens: hint(flag),
  allowed_token_ids: TOKEN_IDS,
  bad_words: TEXTS,
  guided_json: json,
  guided_regex: text,
  guided_choice: TEXTS,
  guided_grammar: text,
  // It chooses code on the provider's own machine.
  guided_decoding_backend: leftOut,
  guided_whitespace_pattern: text,
  structured_outputs: object({
    json,
    regex: text,
    choice: TEXTS,
    grammar: text,
    json_object: flag,
    structural_tag: text,
    disable_fallback: flag,
    disable_any_whitespace: flag,
    disable_additional_properties: flag,
    whitespace_pattern: text,
  }),
  grammar: text,
  json_schema: jsonObject,
  mirostat: hint(INTEGER),
  mirostat_tau: hint(REAL),
  mirostat_eta: hint(REAL),
  dynatemp_range: hint(REAL),
  dynatemp_exponent: hint(REAL),
  dry_multiplier: hint(REAL),
  dry_base: hint(REAL),
  dry_allowed_length: hint(INTEGER),
  dry_penalty_last_n: hint(INTEGER),
  dry_sequence_breakers: hint(TEXTS),
  xtc_probability: hint(REAL),
  xtc_threshold: hint(REAL),
  samplers: hint(TEXTS),
  cache_prompt: hint(flag),
  random_seed: hint(INTEGER),
}

export const STREAM_OPTIONS: Shape = object({ include_usage: flag, include_obfuscation: flag })

/** Not here: `chat_template`, which makes a prompt of any length. Unused tokens of a `prediction` are billed. */
export const CHAT_FIELDS: Rows = {
  ...SAMPLING_FIELDS,
  model: MODEL,
  messages: MESSAGES,
  max_tokens: CAP,
  max_completion_tokens: CAP,
  stream: flag,
  stream_options: STREAM_OPTIONS,
  logprobs: flag,
  top_logprobs: integer(0, 20),
  tools: list(variants('type', TOOLS, hostedTool("tools of type 'function' or 'custom'", 'function', 'custom')), 1024),
  tool_choice: textOr(variants('type', CHOICES), 'an object', ...CHOICE_WORDS),
  parallel_tool_calls: flag,
  functions: list(object(FUNCTION), 1024),
  function_call: textOr(object({ name: text }), 'an object', 'none', 'auto'),
  // Only the values at the list price of these two reach a dialect.
  modalities: hint(priced({ type: 'array', items: word('text') }, "['text']", isAllText)),
  service_tier: hint(SERVICE_TIER),
  safety_identifier: alias,
  prompt_cache_key: hint(alias),
  prompt_cache_retention: hint(CACHE_RETENTION),
  store: hint(flag),
  reasoning_effort: EFFORT,
  verbosity: hint(VERBOSITY),
  reasoning: object({ effort: EFFORT, max_tokens: integer(0), exclude: flag, enabled: flag, summary: SUMMARY }),
  include_reasoning: hint(flag),
  reasoning_format: hint(option('hidden', 'raw', 'parsed', 'none', 'auto', 'deepseek')),
  thinking: THINKING,
  enable_thinking: flag,
  thinking_budget: integer(0),
  chat_template_kwargs: TEMPLATE_ARGUMENTS,
  usage: hint(object({ include: flag })),
  add_generation_prompt: hint(flag),
  continue_final_message: flag,
  safe_prompt: flag,
  prompt_mode: option('reasoning'),
  tool_stream: hint(flag),
  // Known to cost extra.
  audio: paid,
  prediction: paid,
  web_search_options: paid,
  search_parameters: paid,
  plugins: paid,
  provider: paid,
  models: paid,
  route: paid,
  transforms: paid,
}
