import { isObject } from '../../wire/field-rules.ts'
import type { FieldCheck } from './field-table.ts'

// The rows that the tables of all dialects but OpenAI's own have in common.

/** Fields that become the conversation, the cap and the form of the answer. */
export const COMMON_SUPPORTED = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
] as const

/** Options of sampling, labels, and options for data beside the answer. */
export const COMMON_IGNORED = [
  'seed',
  'random_seed',
  'presence_penalty',
  'frequency_penalty',
  'repetition_penalty',
  'repeat_penalty',
  'repeat_last_n',
  'min_p',
  'top_a',
  'typical_p',
  'mirostat',
  'mirostat_tau',
  'mirostat_eta',
  'dynatemp_range',
  'dynatemp_exponent',
  'dry_multiplier',
  'dry_base',
  'dry_allowed_length',
  'dry_penalty_last_n',
  'dry_sequence_breakers',
  'xtc_probability',
  'xtc_threshold',
  'samplers',
  'cache_prompt',
  'add_generation_prompt',
  'skip_special_tokens',
  'spaces_between_special_tokens',
  'metadata',
  'store',
  'verbosity',
  'prompt_cache_key',
  'prompt_cache_retention',
  'include_reasoning',
  'reasoning_format',
  'tool_stream',
  'usage',
  // Only the values at the list price reach this table.
  'modalities',
  'service_tier',
] as const

export const COMMON_UNSUPPORTED: Readonly<Record<string, FieldCheck>> = {
  n: (value) => (value === 1 ? undefined : 'must be 1: this model gives one answer to a request'),
  logprobs: (value) => (value === true ? 'must be false: this model gives no log probabilities' : undefined),
  top_logprobs: (value) => (value === 0 ? undefined : 'must be 0: this model gives no log probabilities'),
  logit_bias: (value) => (isEmpty(value) ? undefined : 'must be empty: this model takes no biases'),
  functions: (value) => (isEmpty(value) ? undefined : "must be left out: use 'tools' with this model"),
  function_call: (value) => (value === 'none' ? undefined : "must be left out: use 'tool_choice' with this model"),
  prompt: () => 'must be one text, and no token ids, with this model',
  suffix: () => 'must be left out: this model writes no text before another',
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}
