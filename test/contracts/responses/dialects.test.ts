import { beforeAll, describe, expect, test } from '@jest/globals'
import { openAnthropic } from '../../providers/anthropic/anthropic-fixtures.ts'
import { response } from '../../sdk/support/answers.ts'
import { PNG, STANDS, type Stand } from '../support/stands.ts'
import { ask, eventsIn, HELLO, requireConsistent } from './ask.ts'

const PICTURE = `data:image/png;base64,${PNG}`

type Dialect = {
  /** The picture as the upstream is sent it. */
  readonly picture: object
  /** The answer to a request that the upstream refuses to serve. */
  readonly refused: { readonly status: string; readonly output: object[] }
}

const user = (content: object) => ({ messages: [{ role: 'user', content: [content] }] })
const refusing = (refusal: string) => [{ content: [{ type: 'refusal', refusal }] }]

const DIALECTS: Readonly<Record<string, Dialect>> = {
  openai: {
    picture: user({ type: 'image_url', image_url: { url: PICTURE } }),
    refused: { status: 'incomplete', output: refusing('I cannot.') },
  },
  anthropic: {
    picture: user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }),
    refused: { status: 'incomplete', output: refusing('No.') },
  },
  bedrock: {
    picture: user({ image: { format: 'png', source: { bytes: PNG } } }),
    refused: { status: 'incomplete', output: [] },
  },
  responses: {
    picture: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }] },
    refused: { status: 'completed', output: refusing('I cannot.') },
  },
}

const said = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] })

describe.each(Object.entries(DIALECTS))('the %s dialect', (name, dialect) => {
  let stand: Stand
  beforeAll(async () => {
    stand = await (STANDS[name] as () => Promise<Stand>)()
  })

  test.each<[string, Parameters<Stand['answer']>[0], object]>([
    ['a text', 'text', { status: 'completed', output: [said('Hello')], usage: { output_tokens: 5 } }],
    [
      'a thought and a text',
      'thinking',
      { output: expect.arrayContaining([expect.objectContaining({ type: 'reasoning' })]) },
    ],
    ['a refusal', 'refusal', dialect.refused],
  ])(`%s of ${name} is told the same whole and as the last word of a stream`, async (_, answer, told) => {
    stand.answer(answer)
    const { secret } = await stand.gateway.issue()
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }]
    const whole = response.parse(await (await ask(stand.gateway, secret, { ...HELLO, input })).json())
    expect(stand.requests.at(-1)?.body).toMatchObject(dialect.picture)
    expect(whole).toMatchObject(told)
    const events = eventsIn(await (await ask(stand.gateway, secret, { ...HELLO, input, stream: true })).text())
    requireConsistent(events)
    expect(events.at(-1)).toMatchObject({ response: told })
    if (answer === 'thinking') {
      const text = whole.output
        .flatMap((item) => (item.type === 'reasoning' ? item.summary : []))
        .map((one) => one.text)
      expect([text.join(''), whole.output.at(-1)]).toMatchObject(['Let me see.', said('42')])
    }
  })

  test(`a stream that ${name} cuts is told as failed and billed by what was delivered`, async () => {
    stand.answer('cut')
    const { secret } = await stand.gateway.issue()
    const answer = await ask(stand.gateway, secret, { ...HELLO, stream: true })
    const events = eventsIn(await answer.text())
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed'])
    const row = await stand.gateway.readRow(answer.headers.get('x-request-id'))
    expect(row).toMatchObject({ outcome: 'upstream_error', contract: 'responses' })
    expect(row.cost).toBeGreaterThan(0n)
  })
})

test.each([
  [{ text: { format: { type: 'json_object' } } }, 'text.format', 'json_schema'],
  [{ reasoning: { effort: 'wild' } }, 'reasoning.effort', 'only as one of'],
  [{ logit_bias: { 1: 1 } }, 'logit_bias', 'biases'],
  [{ input: [{ role: 'user', content: [{ type: 'input_file', file_data: 'x' }] }] }, 'input', "of type 'file'"],
  [{ tools: [{ type: 'custom', name: 'c' }] }, 'tools[0]', 'functions only'],
])('a complaint of a dialect about %j is told in the words of this contract', async (request, param, words) => {
  const { gateway } = await openAnthropic()
  const { secret } = await gateway.issue()
  const answer = await ask(gateway, secret, { ...HELLO, ...request })
  const { error } = (await answer.json()) as { error: { param: string; message: string } }
  expect({ status: answer.status, param: error.param }).toEqual({ status: 400, param })
  expect(error.message).toMatch(new RegExp(`^'${RegExp.escape(param)}' .*${RegExp.escape(words)}`))
})
