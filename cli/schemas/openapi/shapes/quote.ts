import { z } from 'zod'
import { kind, orNull, text } from '../../../../layers/admin/api/shapes/parts.ts'
import { amount } from '../../../../layers/admin/api/shapes/usage-record.ts'
import { QUOTED_PATHS } from '../../../../layers/gateway/wire/requests/read-quote.ts'
import { open, size } from '../contracts/parts.ts'

const endpoint = (words: string) => z.enum(QUOTED_PATHS as [string, ...string[]]).describe(words)

export const QuoteRequest = z
  .strictObject({
    endpoint: endpoint('The endpoint at which the request would be sent.'),
    body: open('The request, as it would be sent there.'),
  })
  .describe('A request to be quoted.')

const covered = z.object({
  balance: size('Covered by the balance.'),
  daily_credits: orNull(size('Covered by the credits of this UTC day; null if they are unlimited.')),
  monthly_credits: orNull(size('Covered by the credits of this UTC month; null if they are unlimited.')),
})

const refusal = z.object({
  status: size('The status of the refusal.'),
  code: text('Its code.'),
  message: text('Its message.'),
})

export const Quote = z
  .object({
    object: kind('quote'),
    endpoint: endpoint('The endpoint that was named.'),
    model: text('The model that would be asked.'),
    catalog_version: size('The version of the catalog whose prices these are, as a row has it in `price_version`.'),
    prompt_tokens: z
      .object({
        estimated: size('By our own tokenizer, which counts other models roughly.'),
        most: size('The most that any tokenizer can make of it, for which credits are held.'),
      })
      .describe('The tokens of the prompt.'),
    output_tokens: z
      .object({
        most: size('The output cap: as asked for, as the model has it, or lowered to what is covered.'),
        choices: size('The number of answers.'),
        covered: covered.describe('The most that credits cover beside the prompt, up to the cap of the model.'),
      })
      .describe('The output tokens of each choice.'),
    hold: orNull(amount('The credits that would be held; null if the request would be refused for them.')),
    cost: z
      .object({
        without_output: amount('With no output token.'),
        with_most_output: amount('With all output tokens of all choices.'),
      })
      .describe('The cost for the estimated prompt, without discounts for a cache.'),
    refusal: refusal.nullable().describe('Why credits do not cover the request; null if they do.'),
  })
  .describe('What a request would hold and cost now.')
