import { z } from 'zod'
import { orNull, text } from '../../../../layers/admin/api/shapes/parts.ts'
import { list, name, size } from './parts.ts'
import * as whole from './responses.ts'

// The events of a stream of OpenAI's Responses.

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({
    type: z.literal(type).describe('The kind of the event, as in its `event:` line.'),
    sequence_number: size('The position of the event in the stream.'),
    ...shape,
  })

const output_index = size('The position of the item in the output.')
const inItem = { output_index, item_id: name('The id of the item.') }
const inContent = { ...inItem, content_index: size('The position of the part in the content.') }
const inSummary = { ...inItem, summary_index: size('The position of the part in the summary.') }
const begun = whole.ResponseInProgress.describe('The response, without its output.')
const item = whole.ResponseItem.describe('The item, as far as it has come.')
const part = whole.ResponsePart.describe('The part, as far as it has come.')
const summaryPart = whole.SummaryPart.describe('The part, as far as it has come.')
const delta = name('The text that is added.')
const said = text('The whole text.')
const logprobs = list(whole.ResponseLogprob, 'The log probabilities of the tokens, if they were asked for.')

const failure = {
  code: orNull(name('The reason, for programs.')),
  message: name('The reason, for people.'),
  param: orNull(name('The field that is at fault, if there is one.')),
}

export const ResponseEvent = z
  .discriminatedUnion('type', [
    event('response.created', { response: begun }),
    event('response.in_progress', { response: begun }),
    event('response.completed', { response: whole.ResponseCompleted.describe('The whole response.') }),
    event('response.incomplete', { response: whole.ResponseIncomplete.describe('The whole response.') }),
    event('response.failed', { response: whole.ResponseFailed.describe('The response, as far as it came.') }),
    event('response.output_item.added', { output_index, item }),
    event('response.output_item.done', { output_index, item }),
    event('response.content_part.added', { ...inContent, part }),
    event('response.content_part.done', { ...inContent, part }),
    event('response.output_text.delta', { ...inContent, delta, logprobs }),
    event('response.output_text.done', { ...inContent, text: said, logprobs }),
    event('response.refusal.delta', { ...inContent, delta }),
    event('response.refusal.done', { ...inContent, refusal: said }),
    event('response.function_call_arguments.delta', { ...inItem, delta }),
    event('response.function_call_arguments.done', {
      ...inItem,
      name: name('The name of the function.'),
      arguments: text('Its arguments as JSON.'),
    }),
    event('response.custom_tool_call_input.delta', { ...inItem, delta }),
    event('response.custom_tool_call_input.done', { ...inItem, input: text('The whole input.') }),
    event('response.reasoning_summary_part.added', { ...inSummary, part: summaryPart }),
    event('response.reasoning_summary_part.done', { ...inSummary, part: summaryPart }),
    event('response.reasoning_summary_text.delta', { ...inSummary, delta }),
    event('response.reasoning_summary_text.done', { ...inSummary, text: said }),
    event('error', {
      ...failure,
      error: z.object({ type: name('The kind of the error.'), ...failure }).describe('The same, as answers have it.'),
    }),
  ])
  .describe('One event of a stream.')
