import { expect, test } from '@jest/globals'
import { countsOf } from '../../layers/gateway/domain/money/bill.ts'
import { mergeUsage, readUsage, toOpenAiUsage } from '../../layers/gateway/wire/money/usage-counts.ts'

const read = (usage: object, isBeside = false) => {
  const reported = readUsage(usage, isBeside)
  if (!reported) throw new Error('It is a usage.')
  const { parts, ...counts } = countsOf(reported)
  return { ...counts, ...parts }
}

test.each<[string, object, object]>([
  ['OpenAI’s names', { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }, { prompt: 9, completion: 4 }],
  ['the names of Responses and Anthropic', { input_tokens: 9, output_tokens: 4 }, { prompt: 9, completion: 4 }],
  ['Bedrock’s names', { inputTokens: 9, outputTokens: 4 }, { prompt: 9, completion: 4 }],
  [
    'both names, of which one is less',
    { prompt_tokens: 1, input_tokens: 900, completion_tokens: 400, output_tokens: 4 },
    { prompt: 900, completion: 400 },
  ],
  [
    'two counts of cached tokens, of which the fewer cost more',
    {
      prompt_tokens: 100,
      completion_tokens: 1,
      prompt_cache_hit_tokens: 90,
      prompt_tokens_details: { cached_tokens: 10 },
    },
    { prompt: 100, cached: 10 },
  ],
  [
    'reasoning within the completion, as the total tells',
    { prompt_tokens: 9, completion_tokens: 50, total_tokens: 59, completion_tokens_details: { reasoning_tokens: 40 } },
    { completion: 50, reasoning: 40 },
  ],
  [
    'reasoning beside the completion, as the total tells',
    { prompt_tokens: 9, completion_tokens: 10, total_tokens: 59, completion_tokens_details: { reasoning_tokens: 40 } },
    { completion: 50, reasoning: 40 },
  ],
  [
    'reasoning, and nothing that tells',
    { prompt_tokens: 9, completion_tokens: 10, reasoning_tokens: 40 },
    { completion: 50 },
  ],
  [
    'a total that does not fit',
    { prompt_tokens: 9, completion_tokens: 10, total_tokens: 2, completion_tokens_details: { reasoning_tokens: 40 } },
    { completion: 50 },
  ],
  ['a total only', { prompt_tokens: 9, total_tokens: 59 }, { prompt: 9, completion: 50 }],
  ['a count that is none', { prompt_tokens: -1, completion_tokens: 1.5 }, { prompt: undefined, completion: undefined }],
])('of %s the reading is not below the bill', (_, usage, expected) => {
  expect(read(usage)).toMatchObject(expected)
})

test('tokens that went through a cache beside the prompt are part of it, and one that is no count makes it none', () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 40, cache_creation_input_tokens: 20, output_tokens: 1 }
  expect(read(usage, true)).toMatchObject({ prompt: 70, cached: 40, cacheWrite: 20 })
  expect(read({ ...usage, cache_read_input_tokens: -4 }, true).prompt).toBeUndefined()
  expect(read(toOpenAiUsage(usage, true))).toMatchObject({ prompt: 70, cached: 40, cacheWrite: 20, completion: 1 })
})

test('a later usage completes an earlier one, and takes nothing from it', () => {
  const [first, second] = [
    { prompt_tokens: 9, cost: 0.5 },
    { prompt_tokens: 3, completion_tokens: 4, cost: null },
  ]
  expect(mergeUsage(first, second)).toEqual({ prompt_tokens: 9, completion_tokens: 4, cost: 0.5 })
  expect([mergeUsage(undefined, first), mergeUsage(first, 'x')]).toEqual([first, first])
})
