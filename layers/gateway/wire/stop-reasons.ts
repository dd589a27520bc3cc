/** The providers' names for the end of an answer, and what they are in Chat Completions. */
const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['eos', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'function_call'],
  ['content_filter', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['refusal', 'content_filter'],
])

/** A name is kept in the row, which must have no text that may quote the prompt. */
const NAME = /^[\w.-]{1,64}$/

/** The end of an answer by its provider's name for it. One that is not known ends an answer like `stop`, and is kept. */
export function finishReasonOf(reason: string): { readonly finishReason: string; readonly stopReason?: string } {
  const known = FINISH_REASONS.get(reason)
  return known ? { finishReason: known } : { finishReason: 'stop', stopReason: NAME.test(reason) ? reason : 'other' }
}
