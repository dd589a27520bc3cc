import { z } from 'zod'
import { flag, kind, orNull, text } from '../../../../layers/admin/api/shapes/parts.ts'
import { COMPLETION_FIELDS } from '../../../../layers/gateway/contracts/completions/completion-request.ts'
import * as part from './parts.ts'

// OpenAI's text completions, the contract that is older than chat.

const token = z.int().min(0)

const request = {
  model: part.model,
  prompt: z
    .union([
      z.string(),
      z.array(z.string()).min(1).max(128),
      z.array(token).min(1),
      z.array(z.array(token).min(1)).min(1).max(128),
    ])
    .describe('A text, texts, token ids, or lists of token ids. Anthropic and Bedrock take one text.'),
  max_tokens: part.maybe(part.outputCap.describe('The most tokens of an answer; 16 unless given.')),
  n: part.maybe(z.int().min(1).max(128).describe('Choices for each prompt; at most 128 in all.')),
  best_of: part.maybe(z.int().min(1).describe('Must be n: choices that nobody gets are billed, too.')),
  echo: part.maybe(
    flag(
      'Each choice begins with its prompt, which is not charged as an answer. Not with logprobs or token ids; at most 1,048,576 characters are repeated.',
    ),
  ),
  logprobs: part.maybe(z.int().min(0).max(5).describe('The number of likely tokens to tell at each position.')),
  suffix: part.maybe(text('The text after the completion. Not with Anthropic and Bedrock.')),
  ...part.drawing,
  stream: part.stream,
  stream_options: part.streamOptions,
}

export const CompletionRequest = z
  .looseObject(request)
  .describe(`OpenAI’s request for a text completion. ${part.otherFields(COMPLETION_FIELDS.shapes, request)}`)

export const TextLogprobs = z
  .object({
    tokens: part.list(z.string(), 'The tokens.'),
    token_logprobs: part.list(z.number().nullable(), 'The log probability of each token; null if it is not known.'),
    top_logprobs: orNull(
      part.list(
        z.record(z.string(), z.number()).nullable(),
        'The log probabilities of the likeliest tokens at each position.',
      ),
    ),
    text_offset: part.list(z.int(), 'The position of each token in the text.'),
  })
  .describe('The log probabilities of the tokens, as the upstream tells them.')

const finishReason = z.enum(['stop', 'length', 'content_filter'])

const head = {
  id: z
    .string()
    .regex(/^cmpl-/)
    .describe('`cmpl-` and the id of the request.'),
  object: kind('text_completion'),
  created: part.created,
  model: part.answeredBy,
  system_fingerprint: part.fingerprint,
}

const choice = z.object({
  index: part.index,
  text: text('The text, or in a stream more of it.'),
  logprobs: TextLogprobs.nullable().describe('The log probabilities, if they were asked for; else null.'),
  finish_reason: finishReason.describe('The reason for which the text ended.'),
})

export const Completion = z
  .object({
    ...head,
    choices: z.array(choice).min(1).describe('The choices of the first prompt, then those of the next.'),
    usage: part.billed,
  })
  .describe('A whole text completion.')

export const CompletionChunk = z
  .object({
    ...head,
    choices: part.list(
      choice.extend({
        finish_reason: finishReason.nullable().describe('The reason for which the text ended; null until then.'),
      }),
      'One piece of one choice; empty in the chunk that has the usage.',
    ),
    usage: part.billedLast,
  })
  .describe('The value after `data: ` of one event of a stream.')
