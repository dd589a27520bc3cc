import { z } from 'zod'
import { flag, text } from '../../../../layers/admin/api/shapes/parts.ts'
import { leftOut, paid, type Shape } from '../../../../layers/gateway/wire/shape.ts'

// Parts that the contracts share, each with the words that describe it.

/** A text that is not empty. */
export const name = (words: string) => z.string().min(1).describe(words)
export const size = (words: string) => z.int().min(0).describe(words)
export const list = <Item extends z.ZodType>(item: Item, words: string) => z.array(item).describe(words)
/** An object of which the document says no more. */
export const open = (words: string) => z.looseObject({}).describe(words)
export const range = (least: number, most: number, words: string) => z.number().min(least).max(most).describe(words)

/** A field of a request: it may be left out or be null. */
export function maybe<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().describe(schema.description ?? '')
}

/** The fields that a request may have beside those that are described, in words. */
export function otherFields(shapes: ReadonlyMap<string, Shape>, described: object): string {
  const others = [...shapes].filter(([field]) => !(field in described))
  const listed = (words: string, isOne: (shape: Shape) => boolean) => {
    const fields = others.filter(([, shape]) => isOne(shape)).map(([field]) => `\`${field}\``)
    return fields.length > 0 ? `${words}: ${fields.join(', ')}. ` : ''
  }
  return [
    listed('Also passed on, to providers that support them', (shape) => shape !== paid && shape !== leftOut),
    listed('Accepted, and not passed on', (shape) => shape === leftOut),
    listed('A 400 unless the operator allows them, because they may cost extra', (shape) => shape === paid),
    'A field of another name is a 400, unless the operator lets it be left out.',
  ].join('')
}

export const model = name('The id of a model that GET /v1/models lists.')
export const stream = maybe(flag('True for a stream of server-sent events.'))
export const streamOptions = maybe(
  z
    .looseObject({ include_usage: maybe(flag('Adds a last chunk with the usage and its cost.')) })
    .describe('Only with "stream": true.'),
)
export const outputCap = z.int().min(1)

/** The ways to draw the next token, as OpenAI names them. */
export const drawing = {
  temperature: maybe(range(0, 2, 'How freely the next token is drawn; 0 takes the likeliest.')),
  top_p: maybe(range(0, 1, 'Only the likeliest tokens that together have this probability are drawn.')),
  presence_penalty: maybe(range(-2, 2, 'Makes tokens less likely that were said before.')),
  frequency_penalty: maybe(range(-2, 2, 'Makes tokens less likely the more often they were said before.')),
  seed: maybe(z.int().describe('For answers that can be had again, if the provider can do so.')),
  stop: maybe(z.union([z.string(), z.array(z.string())]).describe('The answer ends before any of these texts.')),
  logit_bias: maybe(open('Adds to the logits of tokens, by their ids; at most 10,000.')),
  user: maybe(text('Your name for the end user. It goes out as a name that no other key can have.')),
}

export const cost = z
  .number()
  .min(0)
  .describe(
    'The charge, in credits: a plain decimal with at most nine places. X-Svc-Cost has the same digits as text, for readers who do not want money as a floating-point number.',
  )

/** The counts and the charge of chat and text completions. */
export const Usage = z
  .object({
    prompt_tokens: size('Tokens of the prompt, with those that went through a cache.'),
    completion_tokens: size('Tokens of the completion, with those of reasoning.'),
    total_tokens: size('Prompt and completion together.'),
    prompt_tokens_details: z
      .looseObject({ cached_tokens: size('Of the prompt tokens, those that were read from a cache.') })
      .describe('Parts of the prompt tokens.'),
    completion_tokens_details: open('Parts of the completion tokens, as the upstream reports them.').optional(),
    cost,
  })
  .describe('The billed counts and the charge.')

export const billed = Usage.describe('The billed counts and the charge of this answer.')
export const billedLast = Usage.nullable()
  .describe('Only with include_usage: null, and the counts in the last chunk, whose choices are empty.')
  .optional()

export const created = size('The Unix time of the answer, in seconds.')
export const answeredBy = name('The model that was asked for.')
export const index = size('The position of the choice; several have one with n above 1.')
export const fingerprint = name('The backend that the upstream names, if it names one.').optional()
