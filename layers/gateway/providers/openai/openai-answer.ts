import type { ChatPart } from '../../domain/chat.ts'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import { messageToDelta, speaks } from '../../wire/delta.ts'
import { isObject } from '../../wire/field-rules.ts'
import { errorInAnswer } from '../http/error-reply.ts'
import { parseObject, readJson } from '../http/json-reply.ts'
import type { Reply } from '../http/post.ts'
import { readEvents } from '../http/server-sent-events.ts'
import type { ChatCall } from '../provider.ts'
import { AnswerNormalizer } from './answer-normalizer.ts'

type Parts = AsyncGenerator<ChatPart, void, undefined>

export async function* readStream(reply: Reply, call: ChatCall, key: string | undefined): Parts {
  const open = new Set<number>()
  /** Only a choice that said something is given the end it lacks: silence is no answer. */
  const said = new Set<number>()
  const answer = new AnswerNormalizer()
  for await (const data of readEvents(reply.bytes, call)) {
    if (data === '[DONE]') {
      for (const index of open) if (said.has(index)) yield answer.ending(index)
      return
    }
    for (const raw of toParts(checked(parseObject(data), key), 'delta')) {
      const part = answer.normalize(raw)
      if (part.kind === 'choice') {
        if (part.finishReason === null) open.add(part.index)
        else open.delete(part.index)
        if (speaks(part.delta)) said.add(part.index)
      }
      yield part
    }
  }
  if (open.size > 0) throw new UpstreamFailure('reset', 'The upstream ended its answer in the middle.')
}

export async function* readWhole(reply: Reply, key: string | undefined): Parts {
  const answer = new AnswerNormalizer()
  for (const raw of toParts(checked(await readJson(reply), key), 'message')) {
    const part = answer.normalize(raw)
    yield part
    if (part.kind === 'choice' && part.finishReason === null && speaks(part.delta)) yield answer.ending(part.index)
  }
}

function checked(event: Record<string, unknown>, key: string | undefined): Record<string, unknown> {
  if (event.error) throw errorInAnswer(event.error, key)
  return event
}

function* toParts(event: Record<string, unknown>, field: 'delta' | 'message'): Generator<ChatPart, void, undefined> {
  const fingerprint = typeof event.system_fingerprint === 'string' ? event.system_fingerprint : undefined
  for (const [position, choice] of Array.isArray(event.choices) ? event.choices.entries() : []) {
    if (!isObject(choice)) continue
    const content = isObject(choice[field]) ? choice[field] : {}
    yield {
      kind: 'choice',
      index: Number.isSafeInteger(choice.index) ? (choice.index as number) : position,
      delta: field === 'message' ? messageToDelta(content) : content,
      logprobs: choice.logprobs ?? null,
      finishReason:
        typeof choice.finish_reason === 'string' && choice.finish_reason !== '' ? choice.finish_reason : null,
      ...(fingerprint !== undefined && { fingerprint }),
    }
  }
  if (isObject(event.usage)) yield { kind: 'usage', usage: event.usage }
}
