import { beforeAll, describe, expect, test } from '@jest/globals'
import {
  frames as anthropicFrames,
  stream as atAnthropic,
  ending,
  openAnthropic,
  saying as sayingAtAnthropic,
  start,
  textBlock,
  thinkingBlock,
} from '../../providers/anthropic/anthropic-fixtures.ts'
import {
  frames as atBedrock,
  text as bedrockText,
  thought as bedrockThought,
  metadata,
  openBedrock,
  START,
  say as sayAtBedrock,
  stop,
} from '../../providers/bedrock/bedrock-upstream.ts'
import {
  answering,
  CREATED,
  eventsOf,
  message,
  openResponses,
  refusing,
  frames as responsesFrames,
  saying as sayingAtResponses,
  thought,
} from '../../providers/responses/responses-upstream.ts'
import { response } from '../../sdk/support/answers.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { openBoth } from '../../support/stack.ts'
import { chunk, DONE, say, sse, USAGE, usageChunk } from '../../support/upstream.ts'
import { ask, eventsIn, HELLO, requireConsistent } from './ask.ts'

const PIXEL = 'iVBORw0KGgo='
const PICTURE = `data:image/png;base64,${PIXEL}`

type Served = {
  readonly gateway: TestGateway
  readonly requests: readonly { readonly body: object }[]
  reply(what: What): void
}
type What = 'text' | 'thought' | 'refused' | 'cut'

type Dialect = {
  open(): Promise<Served>
  /** The picture as the upstream is sent it. */
  readonly picture: object
  /** The items of an answer with a thought, and of one that the upstream refused to give. */
  readonly thought: object[]
  readonly refused: { readonly status: string; readonly output: object[] }
}

function served<Reply>(
  { gateway, upstream }: { gateway: TestGateway; upstream: { requests: { body: object }[]; reply: Reply } },
  replies: Readonly<Record<What, Reply>>,
): Served {
  return {
    gateway,
    requests: upstream.requests,
    reply(what) {
      upstream.reply = replies[what]
    },
  }
}

const SAID = { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }

const DIALECTS: Readonly<Record<string, Dialect>> = {
  openai: {
    open: async () =>
      served(await openBoth(), {
        text: say('Hello'),
        thought: sse([
          chunk({ reasoning_content: 'Hm.' }),
          chunk({ content: 'Hello' }, 'stop'),
          usageChunk(USAGE),
          DONE,
        ]),
        refused: sse([chunk({ refusal: 'I cannot.' }, 'stop'), usageChunk(USAGE), DONE]),
        cut: sse([chunk({ content: 'Hel' })]),
      }),
    picture: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PICTURE } }] }] },
    thought: [{ type: 'reasoning', summary: [{ text: 'Hm.' }] }, SAID],
    refused: { status: 'completed', output: [{ content: [{ type: 'refusal', refusal: 'I cannot.' }] }] },
  },
  anthropic: {
    open: async () =>
      served(await openAnthropic(), {
        text: sayingAtAnthropic('Hello'),
        thought: atAnthropic(start(), ...thinkingBlock(0, 'Hm.'), ...textBlock(1, 'Hello'), ...ending('end_turn')),
        refused: atAnthropic(start(), ...textBlock(0, 'Hel'), ...ending('refusal')),
        cut: sse(anthropicFrames(start(), ...textBlock(0, 'Hel'))),
      }),
    picture: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }],
        },
      ],
    },
    thought: [{ type: 'reasoning', summary: [{ text: 'Hm.' }] }, SAID],
    refused: { status: 'incomplete', output: [{ type: 'message' }] },
  },
  bedrock: {
    open: async () =>
      served(await openBedrock(), {
        text: sayAtBedrock('Hello'),
        thought: atBedrock(
          START,
          bedrockThought({ text: 'Hm.' }),
          bedrockText('Hello', 1),
          stop('end_turn'),
          metadata(),
        ),
        refused: atBedrock(START, bedrockText('Hel'), stop('guardrail_intervened'), metadata()),
        cut: atBedrock(START, bedrockText('Hel')),
      }),
    picture: { messages: [{ role: 'user', content: [{ image: { format: 'png', source: { bytes: PIXEL } } }] }] },
    thought: [{ type: 'reasoning', summary: [{ text: 'Hm.' }] }, SAID],
    refused: { status: 'incomplete', output: [{ type: 'message' }] },
  },
  responses: {
    open: async () =>
      served(await openResponses(), {
        text: sayingAtResponses('Hello'),
        thought: answering([thought('rs_1', 'sealed', 'Hm.'), message('Hello')]),
        refused: answering([refusing('I cannot.')]),
        cut: sse(responsesFrames(CREATED, ...eventsOf(message('Hello'), 0).slice(0, 2))),
      }),
    picture: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }] },
    thought: [{ type: 'reasoning', encrypted_content: 'sealed', summary: [{ text: 'Hm.' }] }, SAID],
    refused: { status: 'completed', output: [{ content: [{ type: 'refusal', refusal: 'I cannot.' }] }] },
  },
}

describe.each(Object.entries(DIALECTS))('the %s dialect', (name, dialect) => {
  let stand: Served
  beforeAll(async () => {
    stand = await dialect.open()
  })

  /** The same answer whole and as the stream's last word. */
  async function both(request: object) {
    const { secret } = await stand.gateway.issue()
    const whole = response.parse(await (await ask(stand.gateway, secret, { ...HELLO, ...request })).json())
    const answer = await ask(stand.gateway, secret, { ...HELLO, ...request, stream: true })
    const events = eventsIn(await answer.text())
    requireConsistent(events)
    return [whole, events.at(-1)] as const
  }

  test(`a picture goes to ${name}, and a text comes back with its usage`, async () => {
    stand.reply('text')
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }]
    const [whole, last] = await both({ input })
    expect(stand.requests.at(-1)?.body).toMatchObject(dialect.picture)
    const told = { status: 'completed', output: [SAID], usage: { output_tokens: 5 } }
    expect(whole).toMatchObject(told)
    expect(last).toMatchObject({ type: 'response.completed', response: told })
  })

  test(`a thought of ${name} is an item of its own`, async () => {
    stand.reply('thought')
    const [whole, last] = await both({})
    expect(whole.output).toMatchObject(dialect.thought)
    expect(last).toMatchObject({ response: { output: dialect.thought } })
  })

  test(`an answer that ${name} refuses to give is told as such`, async () => {
    stand.reply('refused')
    const [whole, last] = await both({})
    expect(whole).toMatchObject(dialect.refused)
    expect(last).toMatchObject({ response: dialect.refused })
  })

  test(`a stream that ${name} cuts is told as failed and billed by what was delivered`, async () => {
    stand.reply('cut')
    const { secret } = await stand.gateway.issue()
    const answer = await ask(stand.gateway, secret, { ...HELLO, stream: true })
    const events = eventsIn(await answer.text())
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed'])
    const row = await stand.gateway.readRow(answer.headers.get('x-request-id'))
    expect(row).toMatchObject({ outcome: 'upstream_error', contract: 'responses' })
    expect(row.cost).toBeGreaterThan(0n)
  })
})

test('a custom tool that a dialect has no words for is a 400 that says so', async () => {
  const { gateway } = await openAnthropic()
  const { secret } = await gateway.issue()
  const answer = await ask(gateway, secret, { ...HELLO, tools: [{ type: 'custom', name: 'c' }] })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({
    error: { param: 'tools[0]', message: expect.stringContaining('functions only') },
  })
})

test('a complaint of a dialect is told in the words of this contract', async () => {
  const { gateway } = await openAnthropic()
  const { secret } = await gateway.issue()
  for (const [request, param] of [
    [{ text: { format: { type: 'json_object' } } }, 'text.format'],
    [{ reasoning: { effort: 'wild' } }, 'reasoning.effort'],
    [{ logit_bias: { 1: 1 } }, 'logit_bias'],
    [{ input: [{ role: 'user', content: [{ type: 'input_file', file_data: 'x' }] }] }, 'input'],
  ] as const) {
    const answer = await ask(gateway, secret, { ...HELLO, ...request })
    const { error } = (await answer.json()) as { error: { param: string; message: string } }
    expect({ status: answer.status, param: error.param }).toEqual({ status: 400, param })
    expect(error.message.startsWith(`'${param}' `)).toBe(true)
  }
})
