import { isObject } from '../../wire/basics/field-rules.ts'
import type { AnswerHead } from '../contract.ts'

const REASONS = new Set(['stop', 'length', 'content_filter'])

/** The completion's id is the request's, so that either finds the row. */
export function textHead({ requestId, nowMs, model }: AnswerHead) {
  return {
    id: requestId.replace('req_', 'cmpl-'),
    object: 'text_completion',
    created: Math.floor(nowMs / 1000),
    model,
  }
}

/** The text of a message or a delta; a text completion has nothing else. */
export function wordsOf({ content, refusal }: Readonly<Record<string, unknown>>): string {
  return (typeof content === 'string' ? content : '') + (typeof refusal === 'string' ? refusal : '')
}

export function reasonOf(reason: string | null): string | null {
  return reason === null || REASONS.has(reason) ? reason : 'stop'
}

/** The log probabilities of a text completion; those of a chat have another shape. */
export function textLogprobs(logprobs: unknown): unknown {
  if (!isObject(logprobs) || !Array.isArray(logprobs.tokens)) return null
  const { tokens, token_logprobs = [], top_logprobs = null, text_offset = [] } = logprobs
  return { tokens, token_logprobs, top_logprobs, text_offset }
}
