import { describe, expect, test } from '@jest/globals'
import {
  type Reply as BedrockReply,
  callTool,
  frames,
  metadata,
  refuse,
  START,
  stop,
  text,
} from '../providers/bedrock/bedrock-upstream.ts'
import { someOf } from '../support/some-of.ts'
import { say } from '../support/upstream.ts'
import { WORST_ANTHROPIC_ANSWERS, WORST_OPENAI_ANSWERS } from './support/worst-answers.ts'
import { DIALECTS, openStand } from './support/worst-case-stand.ts'
import { WORST_MESSAGES } from './support/worst-messages.ts'
import { WORST_REQUESTS } from './support/worst-requests.ts'
import { WORST_RESPONSES } from './support/worst-responses.ts'

const stand = await openStand()
// The tokenizer is large: it is loaded, once, by an answer that must be estimated.
stand.openai.reply = say('Hello', null)
await stand.warmUp('openai')
stand.openai.reply = say('Hello')

// The dialects take turns: each request is read by one of them, and at night by all.
const WORST = someOf(
  [
    ...Object.entries(WORST_REQUESTS).map(([what, request]) => ['chat', what, request] as const),
    ...Object.entries(WORST_RESPONSES).map(([what, request]) => ['responses', what, request] as const),
    ...Object.entries(WORST_MESSAGES).map(([what, request]) => ['messages', what, request] as const),
  ],
  5,
)
const requestsTo = (model: (typeof DIALECTS)[number]) => {
  const first = DIALECTS.indexOf(model)
  return someOf([...WORST.slice(first), ...WORST.slice(0, first)], DIALECTS.length)
}

describe.each(DIALECTS)('requests to %s', (model) => {
  test.each(requestsTo(model))(
    `other requests are answered while ${model} is asked in the words of %s with %s`,
    async (contract, _, request) => {
      expect([200, 400, 413]).toContain(await stand.ask(model, request(), contract))
    },
  )
})

const ANSWERS = someOf(
  [
    ...Object.entries(WORST_OPENAI_ANSWERS).map(([what, answer]) => ['openai', what, answer] as const),
    ...Object.entries(WORST_ANTHROPIC_ANSWERS).map(([what, answer]) => ['anthropic', what, answer] as const),
  ],
  5,
)

describe('answers', () => {
  test.each(ANSWERS)('other requests are answered while %s answers with %s', async (model, _, answer) => {
    const { type, status, body } = answer()
    stand[model].reply = (response) => {
      response.writeHead(status, { 'Content-Type': type })
      response.end(body)
    }
    for (const stream of [false, true]) expect(await stand.ask(model, { stream })).not.toBe(500)
  })

  test.each<[string, () => BedrockReply]>([
    [
      '10,000 tool calls',
      () => frames(START, ...Array.from({ length: 10_000 }, (_, i) => callTool(i, `c${i}`, 'f')).flat(), ...END),
    ],
    ['10,000 words', () => frames(START, ...Array.from({ length: 10_000 }, () => text('a')), ...END)],
    ['an error of 2 MB of account names', () => refuse(400, 'ValidationException', 'arn:'.repeat(500_000))],
    [
      'an error of 2 MB about the context length',
      () => refuse(400, 'ValidationException', 'exceeds the model '.repeat(100_000)),
    ],
  ])('other requests are answered while bedrock answers with %s', async (_, reply) => {
    stand.bedrock.reply = reply()
    for (const stream of [false, true]) expect(await stand.ask('bedrock', { stream })).not.toBe(500)
  })

  const END = [stop('end_turn'), metadata()]
})
