import { beforeEach, expect, test } from '@jest/globals'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import type { CountTokens } from '../../layers/gateway/flow/billing/count-texts.ts'
import { openBoth } from '../support/stack.ts'
import { event, say, sse, usageChunk } from '../support/upstream.ts'

const ANSWER = 'The quick brown fox jumps over the lazy dog.'
/** "user\nHello", and the answer: 3 letters or spaces a token, 1 other character a token. */
const ROUGH = { promptTokens: Math.ceil(10 / 3) + 4 + 3, completionTokens: Math.ceil(43 / 3 + 1) }

/** The tokenizer of this test, and every question that it was asked. */
let tokenizer: CountTokens
const asked: (readonly string[])[] = []
const { upstream, gateway } = await openBoth({
  countTokens: (texts, withinMs) => {
    asked.push(texts)
    return tokenizer(texts, withinMs)
  },
})
beforeEach(() => {
  asked.length = 0
  tokenizer = async (texts) => texts.map(() => 7)
  upstream.reply = say(ANSWER, null)
})

function linesOf({ requestId }: UsageRow): Record<string, unknown>[] {
  return gateway.logged().filter((line) => line.requestId === requestId)
}

test('an estimate asks the tokenizer once, for prompt and answer together, and the row has its counts', async () => {
  for (const stream of [true, false]) {
    const { row } = await gateway.ask({ stream })
    expect(asked).toEqual([['user\nHello', ANSWER]])
    expect(row).toMatchObject({ usageSource: 'estimate', promptTokens: 7 + 4 + 3, completionTokens: 7 })
    expect(row).not.toHaveProperty('estimatedBy')
    expect(linesOf(row).at(-1)).toMatchObject({ event: 'request' })
    expect(linesOf(row).at(-1)).not.toHaveProperty('RoughEstimates')
    asked.length = 0
  }
})

test('the tokenizer is asked only for what the upstream has not counted', async () => {
  upstream.reply = say(ANSWER)
  await gateway.ask({})
  expect(asked).toEqual([])
  upstream.reply = say(ANSWER, { prompt_tokens: 10 })
  await gateway.ask({})
  expect(asked).toEqual([[ANSWER]])
  await gateway.ask({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'JVBERi0=' } }] }] })
  expect(asked).toHaveLength(2)
  upstream.reply = say('', null)
  await gateway.ask({})
  expect(asked.at(-1)).toEqual(['user\nHello'])
})

test('the tokenizer is asked with no more than 130 Ki characters for a prompt of 4 MB and a long answer', async () => {
  upstream.reply = say(`word${' '.repeat(80)}`.repeat(800), null)
  const { row } = await gateway.ask({ messages: [{ role: 'user', content: 'wombat '.repeat(590_000) }] })
  expect(row).toMatchObject({ usageSource: 'estimate', outcome: 'completed' })
  expect(asked).toHaveLength(1)
  const [texts = []] = asked
  expect(texts.length).toBe(64)
  expect(texts.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(130 * 1024)
})

test('the tokenizer has half of the function’s remaining time, so that the rest is left for settling', async () => {
  let given = 0
  tokenizer = async (texts, withinMs) => {
    given = withinMs
    return texts.map(() => 7)
  }
  await gateway.ask({})
  expect(given).toBeGreaterThan(400_000)
  expect(given).toBeLessThanOrEqual(450_000)
})

const failures: [string, CountTokens][] = [
  ['is down', () => Promise.reject(new Error('connect ECONNREFUSED'))],
  ['throws at once', () => fail()],
  ['counts too few texts', async () => [1]],
  ['counts too many texts', async () => [1, 2, 3]],
  ['counts with no number', async () => [1, '7'] as never],
  ['counts with a fraction', async () => [1, 7.5]],
  ['counts nothing in a text', async () => [1, 0]],
  ['counts more tokens than a text has bytes', async () => [1, 45]],
  ['has no counts', async () => undefined as never],
]

test.each(failures)(
  'if the tokenizer %s, an answer is charged by its characters, and row, log and metric say so',
  async (_, fault) => {
    tokenizer = fault
    for (const stream of [true, false]) {
      const { status, secret, text, row } = await gateway.ask({ stream })
      expect([status, text.includes('lazy dog')]).toEqual([200, true])
      expect(row).toMatchObject({ outcome: 'completed', usageSource: 'estimate', estimatedBy: 'characters', ...ROUGH })
      expect(row.cost).toBe(BigInt(ROUGH.promptTokens) * 1_000n + BigInt(ROUGH.completionTokens) * 2_000n)
      expect(linesOf(row)).toMatchObject([
        { event: 'problem', what: expect.stringContaining('by its characters') },
        { event: 'request', estimatedBy: 'characters', RoughEstimates: 1 },
      ])
      expect(JSON.stringify(linesOf(row))).not.toMatch(/quick|Hello/)
      const seen = await gateway.get(secret, `/v1/usage/${row.requestId}`)
      expect(await seen.json()).toMatchObject({ usage_source: 'estimate', estimated_by: 'characters' })
    }
  },
)

test('a charge by characters stays within its hold, however many there are', async () => {
  tokenizer = () => fail()
  upstream.reply = say('漢'.repeat(5_000), null)
  const { row } = await gateway.ask({ max_tokens: 10, messages: [{ role: 'user', content: '1'.repeat(2_000) }] })
  expect(row).toMatchObject({ estimatedBy: 'characters', completionTokens: 10, promptTokens: 2_000 + 2 + 4 + 3 })
  expect(row.cost <= row.hold).toBe(true)
})

test('without the tokenizer, an answer that breaks off is charged by the characters that were delivered', async () => {
  tokenizer = () => fail()
  upstream.reply = sse([event({ choices: [{ index: 0, delta: { content: ANSWER } }] })])
  const { row } = await gateway.ask({ stream: true })
  expect(row).toMatchObject({ outcome: 'upstream_error', estimatedBy: 'characters', ...ROUGH })
})

test('without the tokenizer, an upstream’s count of several choices stands, because characters are too rough to refute it', async () => {
  tokenizer = () => fail()
  const say = (index: number) => event({ choices: [{ index, delta: { content: ANSWER }, finish_reason: 'stop' }] })
  upstream.reply = sse([say(0), say(1), usageChunk({ prompt_tokens: 10, completion_tokens: 10 }), 'data: [DONE]\n\n'])
  const { row } = await gateway.ask({ n: 2 })
  expect(asked).toHaveLength(1)
  expect(row).toMatchObject({ usageSource: 'upstream', completionTokens: 10 })
  expect(row).not.toHaveProperty('estimatedBy')
})

function fail(): never {
  throw new Error('away')
}
