const NAMES = {
  stop: 'stop end_turn stop_sequence pause_turn eos compaction',
  length: 'length max_tokens model_length model_context_window_exceeded',
  tool_calls: 'tool_calls tool_use',
  function_call: 'function_call',
  content_filter: 'content_filter content_filtered guardrail_intervened refusal',
}

const FINISH_REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([ours, theirs]) => theirs.split(' ').map((name) => [name, ours])),
)

/** A name is kept in the row, which must have no text that may quote the prompt. */
const NAME = /^[\w.-]{1,64}$/

/** The end of an answer by its provider's name for it. One that is not known ends an answer like `stop`, and is kept. */
export function finishReasonOf(reason: string): { readonly finishReason: string; readonly stopReason?: string } {
  const known = FINISH_REASONS.get(reason)
  return known ? { finishReason: known } : { finishReason: 'stop', stopReason: NAME.test(reason) ? reason : 'other' }
}
