import { z } from 'zod'

// OpenAI's published schema of the answers: its required fields are required here, and the parts that the gateway
// itself writes (the envelopes) may have nothing beyond it but the cost. A model's output is passed on, so messages may
// have more.

const text = z.string().min(1)
const moment = z.int().min(0)
const position = z.int().min(0)
const count = z.int().min(0)
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])

const tokenLogprob = z.looseObject({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullable(),
  top_logprobs: z.array(z.looseObject({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()).nullable() })),
})
const logprobs = z.strictObject({
  content: z.array(tokenLogprob).nullable(),
  refusal: z.array(tokenLogprob).nullable(),
})

const usage = z
  .strictObject({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: z.looseObject({ cached_tokens: count }).optional(),
    completion_tokens_details: z.looseObject({}).optional(),
    cost: z.number().nonnegative(),
  })
  .refine((it) => it.total_tokens === it.prompt_tokens + it.completion_tokens, 'the total is not the sum')

const toolCall = z.discriminatedUnion('type', [
  z.strictObject({
    id: text,
    type: z.literal('function'),
    function: z.strictObject({ name: text, arguments: z.string() }),
  }),
  z.strictObject({ id: text, type: z.literal('custom'), custom: z.strictObject({ name: text, input: z.string() }) }),
])

const message = z.looseObject({
  role: z.literal('assistant'),
  content: z.string().nullable(),
  refusal: z.string().nullable(),
  tool_calls: z.array(toolCall).min(1).optional(),
  function_call: z.strictObject({ name: text, arguments: z.string() }).optional(),
})

export const completion = z.strictObject({
  id: text,
  object: z.literal('chat.completion'),
  created: moment,
  model: text,
  choices: z
    .array(z.strictObject({ index: position, message, logprobs: logprobs.nullable(), finish_reason: finishReason }))
    .min(1),
  usage,
  system_fingerprint: text.optional(),
})

const toolCallPiece = z.looseObject({
  index: position,
  id: text.optional(),
  type: z.enum(['function', 'custom']).optional(),
  function: z.looseObject({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
  custom: z.looseObject({ name: z.string().optional(), input: z.string().optional() }).optional(),
})

const delta = z.looseObject({
  role: z.literal('assistant').optional(),
  content: z.string().nullable().optional(),
  refusal: z.string().nullable().optional(),
  tool_calls: z.array(toolCallPiece).optional(),
  function_call: z.looseObject({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
})

export const chunk = z.strictObject({
  id: text,
  object: z.literal('chat.completion.chunk'),
  created: moment,
  model: text,
  choices: z.array(
    z.strictObject({ index: position, delta, logprobs: logprobs.nullable(), finish_reason: finishReason.nullable() }),
  ),
  usage: usage.nullable().optional(),
  system_fingerprint: text.optional(),
})

export type Completion = z.infer<typeof completion>
export type Chunk = z.infer<typeof chunk>

const textLogprobs = z.strictObject({
  tokens: z.array(z.string()),
  token_logprobs: z.array(z.number()),
  top_logprobs: z.array(z.record(z.string(), z.number())).nullable(),
  text_offset: z.array(z.int()),
})

const textHead = { id: text, object: z.literal('text_completion'), created: moment, model: text }
const textReason = z.enum(['stop', 'length', 'content_filter'])

export const textCompletion = z.strictObject({
  ...textHead,
  choices: z
    .array(
      z.strictObject({
        index: position,
        text: z.string(),
        logprobs: textLogprobs.nullable(),
        finish_reason: textReason,
      }),
    )
    .min(1),
  usage,
  system_fingerprint: text.optional(),
})

export const textChunk = z.strictObject({
  ...textHead,
  choices: z.array(
    z.strictObject({
      index: position,
      text: z.string(),
      logprobs: textLogprobs.nullable(),
      finish_reason: textReason.nullable(),
    }),
  ),
  usage: usage.nullable().optional(),
  system_fingerprint: text.optional(),
})

export const embeddingList = z.strictObject({
  object: z.literal('list'),
  data: z
    .array(
      z.strictObject({
        object: z.literal('embedding'),
        index: position,
        embedding: z.union([z.array(z.number()).min(1), z.base64()]),
      }),
    )
    .min(1),
  model: text,
  usage: z.strictObject({ prompt_tokens: count, total_tokens: count, cost: z.number().nonnegative() }),
})

export const errorAnswer = z.strictObject({
  error: z.strictObject({ message: text, type: text, param: text.nullable(), code: text.nullable() }),
})

export const model = z.looseObject({ id: text, object: z.literal('model'), created: moment, owned_by: text })

export const modelList = z.strictObject({ object: z.literal('list'), data: z.array(model) })
