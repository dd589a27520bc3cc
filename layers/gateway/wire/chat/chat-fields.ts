import { isObject, isText } from '../basics/field-rules.ts'
import type { Read, Rows, Shape } from '../basics/shape.ts'
import * as is from '../basics/shape.ts'
import { WEB_SEARCH_OPTIONS } from './hosted-tools.ts'
import { cacheMark, MESSAGES } from './message-fields.ts'

// The tables of Chat Completions: every field that goes upstream is a row here or in message-fields.ts, and nothing else goes.

/** The caller's own name for somebody or something, which goes out as one that no other caller can have. */
export const alias: Shape = is.shaped({ type: 'string', ...is.treated('aliased') }, (sent, at) =>
  typeof sent === 'string' ? at.alias(sent) : is.text(sent, at),
)

const SCHEMA = is.object({ name: is.text, description: is.text, schema: is.jsonObject, strict: is.flag })

const FORMAT = is.variants('type', {
  text: {},
  json_object: { schema: is.jsonObject },
  json_schema: { json_schema: SCHEMA },
})

const marked = { cache_control: cacheMark }

const GRAMMAR = is.object({
  type: is.word('text', 'grammar'),
  grammar: is.object({ syntax: is.text, definition: is.text }),
})
const FUNCTION = { name: is.text, description: is.text, parameters: is.jsonObject, strict: is.flag, ...marked }

/** A tool of another kind, such as a search, may be billed by the call. */
export const hostedTool =
  (wanted: string, ...types: readonly string[]): Read =>
  (sent, at) =>
    isObject(sent) ? at.dearer(wanted, sent.type, types) : at.refuse("a tool: an object with a 'type'", sent)

/** Tools that the caller runs. Hosted ones, such as a search, are billed by the call. */
const TOOLS = is.variants(
  'type',
  {
    function: { function: is.object(FUNCTION), ...marked },
    custom: { custom: is.object({ name: is.text, description: is.text, format: GRAMMAR }), ...marked },
  },
  hostedTool("tools of type 'function' or 'custom'", 'function', 'custom'),
)

const NAMED = {
  function: { function: is.object({ name: is.text }) },
  custom: { custom: is.object({ name: is.text }) },
} satisfies Record<string, Rows>
const ALLOWED_TOOLS = is.object({
  mode: is.word('auto', 'required'),
  tools: is.list(is.variants('type', NAMED), 1024),
})
const CHOICES = { ...NAMED, allowed_tools: { allowed_tools: ALLOWED_TOOLS } }

const isAllText = (sent: unknown) => Array.isArray(sent) && sent.every((modality) => modality === 'text')

const STOP = is.shaped({ anyOf: [is.text, { type: 'array', items: is.text }] }, (sent, at) => {
  if (!Array.isArray(sent))
    return sent === null || typeof sent === 'string' ? is.text(sent, at) : at.refuse('a string or an array', sent)
  const bad = sent.findIndex((one) => typeof one !== 'string')
  return bad < 0 ? sent : at.refuse(`a string or an array whose element ${bad} is a string`, sent)
})

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default', 'auto']
export const EFFORT = is.option(...EFFORTS)
export const VERBOSITIES = ['low', 'medium', 'high']
export const VERBOSITY = is.option(...VERBOSITIES)
export const SUMMARY = is.option('auto', 'concise', 'detailed', 'none')
export const THINKING: Shape = is.object({
  type: is.option('enabled', 'disabled', 'adaptive', 'between_tools', 'auto'),
  budget_tokens: is.integer(0),
  display: is.option('summarized', 'omitted', 'updates'),
  block_binding: is.native(is.object({ prefix_mismatch_behavior: is.word('error', 'drop_block') })),
  clear_thinking: is.flag,
})

/** Arguments of the chat templates of open models. With other arguments a template can make a prompt of any length. */
export const TEMPLATE_ARGUMENTS = is.object({
  ...is.each(is.flag, 'enable_thinking', 'thinking', 'clear_thinking', 'preserve_thinking'),
  thinking_budget: is.integer(0),
  reasoning_effort: is.word('none', 'minimal', 'low', 'medium', 'high'),
  ...is.each(is.flag, 'add_generation_prompt', 'continue_final_message'),
})

export const MODEL_WANTED = 'the id of a model; GET /v1/models lists them'
export const MODEL = is.plain({ type: 'string', minLength: 1 }, MODEL_WANTED, isText)

/** OpenAI accepts 16. */
export const METADATA = is.record(is.scalar, 64)

const REAL = is.number(-1e9, 1e9)
const INTEGER = is.integer(Number.MIN_SAFE_INTEGER)
const TEXTS = is.list(is.text)
const TOKEN_IDS = is.list(is.integer(0))

/** The same limits of an answer in the words of vLLM's newer versions. */
export const STRUCTURED_OUTPUTS = is.object({
  json: is.json,
  regex: is.text,
  choice: TEXTS,
  grammar: is.text,
  json_object: is.flag,
  structural_tag: is.text,
  ...is.each(is.flag, 'disable_fallback', 'disable_any_whitespace', 'disable_additional_properties'),
  whitespace_pattern: is.text,
})

export const SAMPLING_FIELDS: Rows = {
  temperature: is.number(0, 2),
  top_p: is.number(0, 1),
  n: is.integer(1, 128),
  stop: STOP,
  ...is.each(is.hint(is.number(-2, 2)), 'presence_penalty', 'frequency_penalty'),
  seed: is.hint(INTEGER),
  logit_bias: is.record(REAL, 10_000),
  response_format: FORMAT,
  user: alias,
  metadata: is.hint(METADATA),
  top_k: INTEGER,
  ...is.each(is.hint(REAL), 'min_p', 'top_a', 'typical_p', 'repetition_penalty', 'repeat_penalty'),
  repeat_last_n: is.hint(INTEGER),
  min_tokens: is.integer(0),
  stop_token_ids: TOKEN_IDS,
  ...is.each(is.flag, 'ignore_eos', 'include_stop_str_in_output'),
  ...is.each(is.hint(is.flag), 'skip_special_tokens', 'spaces_between_special_tokens'),
  allowed_token_ids: TOKEN_IDS,
  bad_words: TEXTS,
  guided_json: is.json,
  guided_regex: is.text,
  guided_choice: TEXTS,
  guided_grammar: is.text,
  // It chooses code on the provider's own machine.
  guided_decoding_backend: is.leftOut,
  guided_whitespace_pattern: is.text,
  structured_outputs: STRUCTURED_OUTPUTS,
  grammar: is.text,
  json_schema: is.jsonObject,
  mirostat: is.hint(INTEGER),
  ...is.each(is.hint(REAL), 'mirostat_tau', 'mirostat_eta', 'dynatemp_range', 'dynatemp_exponent'),
  ...is.each(is.hint(REAL), 'dry_multiplier', 'dry_base'),
  ...is.each(is.hint(INTEGER), 'dry_allowed_length', 'dry_penalty_last_n'),
  dry_sequence_breakers: is.hint(TEXTS),
  ...is.each(is.hint(REAL), 'xtc_probability', 'xtc_threshold'),
  samplers: is.hint(TEXTS),
  cache_prompt: is.hint(is.flag),
  random_seed: is.hint(INTEGER),
}

/** OpenAI's, each by the name of its price. */
const TIERS = { flex: 'flex', priority: 'priority', scale: 'scale', fast: 'fast', ultrafast: 'ultrafast' }

const POLICY = is.object({ mode: is.word('score', 'block') })
export const MODERATION = is.object({ model: is.text, policy: is.object({ input: POLICY, output: POLICY }) })

export const STREAM_OPTIONS: Shape = is.object({ include_usage: is.flag, include_obfuscation: is.flag })

/** Not here: `chat_template`, which makes a prompt of any length. Unused tokens of a `prediction` are billed. */
export const CHAT_FIELDS: Rows = {
  ...SAMPLING_FIELDS,
  model: MODEL,
  messages: MESSAGES,
  ...is.each(is.integer(1), 'max_tokens', 'max_completion_tokens'),
  stream: is.flag,
  stream_options: STREAM_OPTIONS,
  logprobs: is.flag,
  top_logprobs: is.integer(0, 20),
  tools: is.list(TOOLS, 1024),
  // `any` is Mistral's word for `required`.
  tool_choice: is.textOr(is.variants('type', CHOICES), 'an object', 'none', 'auto', 'required', 'any'),
  parallel_tool_calls: is.flag,
  functions: is.list(is.object(FUNCTION), 1024),
  function_call: is.textOr(is.object({ name: is.text }), 'an object', 'none', 'auto'),
  // Only the values at the list price of these two reach a dialect, by the names that providers give it.
  modalities: is.hint(is.priced({ type: 'array', items: is.word('text') }, "['text']", isAllText)),
  service_tier: is.hint(is.tier(['auto', 'default', 'on_demand'], TIERS, 'chat', 'responses')),
  safety_identifier: alias,
  prompt_cache_key: is.hint(alias),
  prompt_cache_retention: is.hint(is.option('in_memory', 'in-memory', '24h')),
  store: is.hint(is.flag),
  prompt_cache_options: is.hint(
    is.object({
      mode: is.word('implicit', 'explicit'),
      ttl: is.word('30m', '12h'),
      prewarm: is.flag,
      // All callers share the responses that are stored at a provider.
      comparison_response_id: is.leftOut,
    }),
  ),
  cache_control: is.hint(cacheMark),
  moderation: is.hint(MODERATION),
  reasoning_effort: EFFORT,
  verbosity: is.hint(VERBOSITY),
  reasoning: is.object({
    effort: EFFORT,
    max_tokens: is.integer(0),
    exclude: is.flag,
    enabled: is.flag,
    summary: SUMMARY,
  }),
  include_reasoning: is.hint(is.flag),
  reasoning_format: is.hint(is.option('hidden', 'raw', 'parsed', 'none', 'auto', 'deepseek')),
  thinking: THINKING,
  enable_thinking: is.flag,
  thinking_budget: is.integer(0),
  chat_template_kwargs: TEMPLATE_ARGUMENTS,
  usage: is.hint(is.object({ include: is.flag })),
  add_generation_prompt: is.hint(is.flag),
  ...is.each(is.flag, 'continue_final_message', 'safe_prompt'),
  prompt_mode: is.option('reasoning'),
  tool_stream: is.hint(is.flag),
  web_search_options: is.hint(WEB_SEARCH_OPTIONS),
  // Known to cost extra.
  ...is.each(is.paid, 'audio', 'prediction', 'search_parameters', 'plugins', 'provider'),
  ...is.each(is.paid, 'models', 'route', 'transforms'),
}
