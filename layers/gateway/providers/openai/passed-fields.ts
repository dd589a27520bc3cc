import { isObject } from '../../wire/field-rules.ts'
import { isStandardTier, isTextOnly } from '../standard-price.ts'

/** The values of a field that do not change the price, in words; undefined if this is one of them. */
type Passes = (value: unknown) => string | undefined

const any: Passes = () => undefined

/** Hosted tools, such as a search, are billed by the call. */
const BILLED_AS_TOKENS: ReadonlySet<unknown> = new Set(['function', 'custom'])
const STREAM_OPTIONS = new Set(['include_usage', 'include_obfuscation'])

const RULES: Readonly<Record<string, Passes>> = {
  tools: (value) =>
    Array.isArray(value) && value.every((tool) => isObject(tool) && BILLED_AS_TOKENS.has(tool.type))
      ? undefined
      : "tools of type 'function' or 'custom'",
  stream_options: (value) =>
    isObject(value) && Object.keys(value).every((name) => STREAM_OPTIONS.has(name))
      ? undefined
      : [...STREAM_OPTIONS].join(' and '),
  modalities: (value) => (isTextOnly(value) ? undefined : "['text']"),
  service_tier: (value) => (isStandardTier(value) ? undefined : "'auto', 'default' or 'on_demand'"),
}

/**
 * Fields that are known not to change what a provider bills, or not beyond the tokens that the price and the output cap
 * cover. `store` is free at OpenAI. `prediction` is missing: predicted tokens that are not used are billed as output, and
 * OpenAI takes no cap beside it. `chat_template` is missing: it can make a prompt of any length out of a short one.
 */
const FREE = `
  messages top_logprobs tool_choice parallel_tool_calls functions function_call
  safety_identifier prompt_cache_key prompt_cache_retention store
  reasoning_effort verbosity reasoning include_reasoning reasoning_format thinking enable_thinking thinking_budget
  chat_template_kwargs usage add_generation_prompt continue_final_message safe_prompt prompt_mode tool_stream
`

/** Of these, the ways to draw the next token and to form the text. */
const DRAWING = `
  temperature top_p n stop presence_penalty frequency_penalty seed logprobs logit_bias response_format user metadata
  top_k min_p top_a typical_p repetition_penalty repeat_penalty repeat_last_n min_tokens stop_token_ids ignore_eos
  include_stop_str_in_output skip_special_tokens spaces_between_special_tokens allowed_token_ids bad_words
  guided_json guided_regex guided_choice guided_grammar guided_decoding_backend guided_whitespace_pattern
  structured_outputs grammar json_schema
  mirostat mirostat_tau mirostat_eta dynatemp_range dynatemp_exponent
  dry_multiplier dry_base dry_allowed_length dry_penalty_last_n dry_sequence_breakers xtc_probability xtc_threshold
  samplers cache_prompt random_seed
`

/** The fields of one contract that travel on as they came. */
export type PassedFields = ReadonlyMap<string, Passes>

/** Of chat. */
export const PASSED_FIELDS: PassedFields = new Map([...freely(FREE), ...freely(DRAWING), ...Object.entries(RULES)])

/** Of text completions. `best_of` is missing: choices that nobody gets are billed. */
export const COMPLETION_FIELDS: PassedFields = new Map([
  ...freely(DRAWING),
  ...freely('prompt suffix'),
  ...Object.entries(RULES).filter(([name]) => name === 'stream_options'),
])

/** Of embeddings. What a text is for, and where a long one ends, is not billed. */
export const EMBEDDING_FIELDS: PassedFields = new Map(
  freely('input dimensions encoding_format user input_type truncate truncate_prompt_tokens'),
)

function freely(names: string): (readonly [string, Passes])[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => [name, any])
}
