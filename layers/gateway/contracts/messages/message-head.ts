import type { AnswerEnding, ChoicePart } from '../../domain/chat/chat.ts'
import type { AnswerHead } from '../contract.ts'

/** A message before its first block. Its id is the request's, so that either finds the row. */
export function emptyMessage({ requestId, model }: AnswerHead) {
  return {
    id: requestId.replace('req_', 'msg_'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    container: null,
    diagnostics: null,
    ...endingOf(undefined, false),
  }
}

/** The finish reasons of Chat Completions, and Anthropic's for each. */
const STOP_REASONS: ReadonlyMap<string, string> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
])

/** The end of an answer; all null while it goes on. */
export type Finish = Pick<ChoicePart, 'finishReason' | 'ending'>

export function endingOf(finish: Finish | undefined, hasCalls: boolean) {
  const ending = finish?.ending
  return {
    stop_reason: ending?.reason ?? (finish ? stopReason(finish.finishReason ?? 'stop', hasCalls) : null),
    stop_sequence: ending?.sequence ?? null,
    stop_details: ending ? detailsOf(ending) : null,
  }
}

/** Some upstreams call tools and report that they have stopped. */
function stopReason(finishReason: string, hasCalls: boolean): string {
  const reason = STOP_REASONS.get(finishReason) ?? 'end_turn'
  return reason === 'end_turn' && hasCalls ? 'tool_use' : reason
}

function detailsOf({ reason, details }: AnswerEnding): unknown {
  return reason === 'refusal' ? (details ?? null) : null
}
