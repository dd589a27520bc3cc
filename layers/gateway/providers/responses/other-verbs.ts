import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { Answer } from '../../domain/chat/chat.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { copied, isObject } from '../../wire/basics/field-rules.ts'
import { toOpenAiUsage } from '../../wire/money/usage-counts.ts'
import { choiceOf } from '../conversation/answer-parts.ts'
import { readJson } from '../http/json-reply.ts'
import type { Reply } from '../http/post.ts'
import type { ChatCall } from '../provider.ts'
import { toOriginalRequest, toResponsesRequest } from './responses-request.ts'

const COUNTED = [
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text'],
  ...['truncation', 'personality'],
]
const COMPACTED = [
  ...['model', 'input', 'instructions', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ...['service_tier', 'image'],
]

export function toCountRequest(call: ChatCall): JsonObject {
  return copied(toResponsesRequest(call), COUNTED)
}

export async function readCount(reply: Reply): Promise<number> {
  const { input_tokens: tokens } = (await readJson(reply)).object
  if (Number.isSafeInteger(tokens) && Number(tokens) >= 0) return Number(tokens)
  throw new UpstreamFailure('protocol', 'The upstream sent JSON that is no count.')
}

export function toCompactRequest(call: ChatCall): JsonObject {
  return copied(toOriginalRequest(call), COMPACTED)
}

export async function readCompacted(reply: Reply): Promise<Answer> {
  const { output, usage, service_tier: serviceTier } = (await readJson(reply)).object
  if (!Array.isArray(output) || output.length === 0) {
    throw new UpstreamFailure('protocol', 'The upstream sent JSON that is no compaction.')
  }
  const end = { ...choiceOf({ compaction: output.filter(isObject) }), finishReason: 'stop', serviceTier }
  return [isObject(usage) ? [end, { kind: 'usage', usage: toOpenAiUsage(usage), serviceTier }] : [end]]
}

/** True of an upstream of this format that has no compaction, and of a model that it does not know. */
export function hasNoCompaction(error: unknown): boolean {
  return error instanceof UpstreamFailure && [404, 405, 501].includes(error.detail.status ?? 0)
}
