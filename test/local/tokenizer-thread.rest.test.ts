import { afterAll, expect, test } from '@jest/globals'
import { countTokens as countHere } from '../../layers/tokenizer/count-tokens.ts'
import { openTokenizerThread, type TokenizerThread } from '../../local/tokenizer-thread.ts'
import { HELLO } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { say } from '../support/upstream.ts'

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

const FOREVER_MS = 3_600_000
const ODD = new URL('fixtures/odd-tokenizer.ts', import.meta.url)

function openOdd(mostMs = FOREVER_MS): TokenizerThread {
  return opened.use(openTokenizerThread({ file: ODD, mostMs }))
}

test('the tokenizer’s thread counts what the tokenizer itself counts', async () => {
  const texts = ['Hello, world!', 'Съешь же ещё этих мягких булок', '👨‍👩‍👧', '\ud83d', 'a'.repeat(1_000)]
  const thread = opened.use(openTokenizerThread())
  expect(await thread.countTokens(texts, FOREVER_MS)).toEqual(texts.map((text) => countHere(text)))
})

test('the gateway answers others while the tokenizer loads in its thread', async () => {
  const { countTokens } = opened.use(openTokenizerThread())
  const { upstream, gateway } = await openBoth({ countTokens })
  const { secret } = await gateway.issue({ rpm: 60_000 })
  upstream.reply = say('Hello', null)
  const state = { isEstimated: false, answered: 0 }
  const estimated = gateway.post(secret, HELLO).finally(() => {
    state.isEstimated = true
  })
  while (!state.isEstimated) {
    expect((await gateway.get(secret, '/v1/models')).status).toBe(200)
    if (!state.isEstimated) state.answered += 1
  }
  const row = await gateway.readRow((await estimated).headers.get('x-request-id'))
  expect(row).toMatchObject({ usageSource: 'estimate', completionTokens: 1 })
  expect(row).not.toHaveProperty('estimatedBy')
  // Loaded here, it would stop everything at once, and nobody would be answered meanwhile.
  expect(state.answered).toBeGreaterThan(3)
})

test('a tokenizer thread that dies is started again for the next question, and its error says nothing of the text', async () => {
  const { countTokens: ask } = openOdd()
  expect(await ask(['four'], FOREVER_MS)).toEqual([4])
  const dead = await Promise.allSettled([ask(['die'], FOREVER_MS), ask(['too', 'late'], FOREVER_MS)])
  for (const { status, ...rest } of dead) {
    expect([status, rest]).toMatchObject(['rejected', { reason: { message: 'The tokenizer’s thread died.' } }])
  }
  expect(await ask(['again'], FOREVER_MS)).toEqual([5])
})

test('a tokenizer thread that does not answer in the time that is left is not waited for', async () => {
  const { countTokens: ask } = openOdd()
  await expect(ask(['hang'], 20)).rejects.toThrow('The tokenizer did not answer within 20 ms.')
  await expect(ask(['hang'], 0)).rejects.toThrow('within 0 ms')
  expect(await ask(['four'], FOREVER_MS)).toEqual([4])
})

test('a tokenizer thread that hangs is ended, and started again for the next question', async () => {
  const { countTokens: ask } = openOdd(3_000)
  const others = expect(ask(['hang'], 2_999)).rejects.toThrow('The tokenizer')
  await expect(ask(['hang'], FOREVER_MS)).rejects.toThrow('within 3000 ms')
  await others
  expect(await ask(['four'], FOREVER_MS)).toEqual([4])
})

test('a tokenizer thread has 64 questions before it at most, and leaves none open when it is ended', async () => {
  const thread = openTokenizerThread({ file: ODD })
  const waiting = Array.from({ length: 64 }, () => thread.countTokens(['hang'], FOREVER_MS))
  const ended = Promise.allSettled(waiting)
  await expect(thread.countTokens(['four'], FOREVER_MS)).rejects.toThrow('Too many questions')
  await thread[Symbol.asyncDispose]()
  expect(new Set((await ended).map(({ status }) => status))).toEqual(new Set(['rejected']))
})
