import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { isObject, textIn } from '../../wire/basics/field-rules.ts'
import { errorFrame } from '../../wire/chat/frames.ts'
import { writeUsage } from '../../wire/money/usage-counts.ts'
import { CompletionBuilder, completionHead } from '../completion-builder.ts'
import type { AnswerHead, CountedUsage, StreamWriter } from '../contract.ts'

type ChatChoice = {
  readonly index: number
  readonly message: JsonObject
  readonly logprobs: unknown
  readonly finish_reason: string
}

export class TextBuilder extends CompletionBuilder {
  override build(counted: CountedUsage): JsonObject {
    const { choices, usage, system_fingerprint } = super.build(counted)
    return {
      ...textHead(this.head),
      choices: (choices as ChatChoice[]).map(({ index, message, logprobs, finish_reason }) => ({
        index,
        text: echoOf(this.head.chat, index) + wordsOf(message),
        ...endOf(logprobs, finish_reason),
      })),
      usage,
      ...(system_fingerprint !== undefined && { system_fingerprint }),
    }
  }
}

/** Turns parts into OpenAI's chunks of a text completion. A part without text, such as a thought, gets no chunk. */
export function textFrames(head: AnswerHead): StreamWriter {
  const { chat } = head
  const fields = textHead(head)
  const begun = new Set<number>()
  return {
    choice({ index, delta, logprobs, finishReason, fingerprint }) {
      const echo = begun.has(index) ? '' : echoOf(chat, index)
      begun.add(index)
      const text = echo + wordsOf(delta)
      if (text === '' && finishReason === null) return ''
      return frame([{ index, text, ...endOf(logprobs, finishReason) }], null, fingerprint)
    },
    end: ({ bill, reported }) => (chat.includeUsage ? frame([], writeUsage(bill, reported)) : ''),
    error: errorFrame,
  }

  function frame(choices: readonly object[], usage: object | null, fingerprint?: string): string {
    const chunk = {
      ...fields,
      choices,
      ...(chat.includeUsage && { usage }),
      ...(fingerprint && { system_fingerprint: fingerprint }),
    }
    return `data: ${JSON.stringify(chunk)}\n\n`
  }
}

const textHead = (head: AnswerHead) => completionHead(head, 'text_completion', 'cmpl-')

/** The text with which a choice begins. The gateway itself repeats the prompt, so that it is not billed as an answer. */
function echoOf({ original, choices }: ChatRequest, index: number): string {
  const { prompt, echo } = original?.body ?? {}
  if (echo !== true) return ''
  const prompts: readonly unknown[] = Array.isArray(prompt) ? prompt : [prompt]
  const text = prompts[Math.floor(index / (choices / prompts.length))]
  return typeof text === 'string' ? text : ''
}

function wordsOf({ content, refusal }: JsonObject): string {
  return textIn(content) + textIn(refusal)
}

const REASONS = new Set(['stop', 'length', 'content_filter'])

/** Log probabilities of a chat have another shape, and are left out. */
function endOf(logprobs: unknown, reason: string | null) {
  return {
    logprobs: isObject(logprobs) && Array.isArray(logprobs.tokens) ? textLogprobs(logprobs) : null,
    finish_reason: reason === null || REASONS.has(reason) ? reason : 'stop',
  }
}

function textLogprobs({ tokens, token_logprobs = [], top_logprobs = null, text_offset = [] }: JsonObject): JsonObject {
  return { tokens, token_logprobs, top_logprobs, text_offset }
}
