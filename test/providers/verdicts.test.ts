import { beforeAll, describe, expect, test } from '@jest/globals'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { openAnthropic, saying } from './anthropic/anthropic-fixtures.ts'
import { openBedrock } from './bedrock/bedrock-upstream.ts'

type Served = {
  readonly gateway: TestGateway
  readonly secret: string
  readonly upstream: { readonly requests: readonly unknown[] }
}

let anthropic: Served
let bedrock: Served

beforeAll(async () => {
  anthropic = await serve(await openAnthropic())
  bedrock = await serve(await openBedrock())
})

async function serve({ gateway, upstream }: Omit<Served, 'secret'>): Promise<Served> {
  const { secret } = await gateway.issue({ rpm: 60_000, credits: '1000' })
  return { gateway, upstream, secret }
}

/** What is said of a request that is refused before anything is sent. */
async function verdictOn({ gateway, secret, upstream }: Served, request: object) {
  const sentBefore = upstream.requests.length
  const response = await gateway.post(secret, { ...HELLO, ...request })
  const { error } = (await response.json()) as { error: { param: string; message: string } }
  const { attempts, cost } = await gateway.readRow(response.headers.get('x-request-id'))
  expect([response.status, upstream.requests.length, cost]).toEqual([400, sentBefore, 0n])
  expect(error.message.length).toBeLessThan(300)
  return { reason: attempts.map(({ result }) => result).join(), param: error.param, message: error.message }
}

const user = (content: unknown) => ({ role: 'user', content })
const said = (message: object) => ({ messages: [user('Hi'), message] })
const part = (content: object) => ({ messages: [user([content])] })
const image = (url: unknown) => part({ type: 'image_url', image_url: { url } })
const calling = (...tool_calls: unknown[]) => said({ role: 'assistant', content: null, tool_calls })
const call = (args: unknown) => ({ id: 'c', type: 'function', function: { name: 'look', arguments: args } })
const TOOLS = [{ type: 'function', function: { name: 'look' } }]
const IMAGE_AT = 'messages[0].content[0].image_url.url'
const ARGUMENTS_AT = 'messages[1].tool_calls[0].function.arguments'
const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`

const MALFORMED: [string, string, object][] = [
  ['a tool call without an id', 'messages[1].tool_calls[0].id', calling({ ...call('{}'), id: undefined })],
  ['a tool call without a name', 'messages[1].tool_calls[0]', calling({ id: 'c', type: 'function', function: {} })],
  ['a tool call without a function', 'messages[1].tool_calls[0]', calling({ id: 'c', type: 'function' })],
  ['a tool call that is none', 'messages[1].tool_calls[0]', calling(7)],
  ['tool calls that are no list', 'messages[1].tool_calls', said({ role: 'assistant', content: '', tool_calls: {} })],
  ['a result of no call', 'messages[1].tool_call_id', said({ role: 'tool', content: '1' })],
  ['a result of a blank call', 'messages[1].tool_call_id', said({ role: 'tool', tool_call_id: '', content: '1' })],
  ['a choice of an unknown word', 'tool_choice', { tools: TOOLS, tool_choice: 'toString' }],
  ['a choice without a name', 'tool_choice', { tools: TOOLS, tool_choice: { type: 'function' } }],
  ['a choice of an unknown kind', 'tool_choice', { tools: TOOLS, tool_choice: { type: 'constructor' } }],
  ['a malformed choice without tools', 'tool_choice', { tool_choice: {} }],
  ['a function without a name', 'tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
  ['a function that is none', 'tools[0].function.name', { tools: [{ type: 'function' }], tool_choice: 'none' }],
  ['an image without an address', IMAGE_AT, part({ type: 'image_url' })],
  ['an image with a number for an address', IMAGE_AT, image(7)],
  ['an image that is not base64', IMAGE_AT, image('data:image/png;base64,%%%')],
  ['an image that is nothing', IMAGE_AT, image('data:image/png;base64,')],
  ['an image that is only blank', IMAGE_AT, image('data:image/png;base64, \n ')],
  ['an image that goes on after its end', IMAGE_AT, image('data:image/png;base64,AAA=AAAA')],
  ['arguments of 65 levels', ARGUMENTS_AT, calling(call(deep(64)))],
  ['arguments of 100,000 levels', ARGUMENTS_AT, calling(call(deep(100_000)))],
]

const WITHOUT_WORDS: [string, string, object][] = [
  ['two choices', 'n', { n: 2 }],
  ['log probabilities', 'logprobs', { logprobs: true, top_logprobs: 2 }],
  ['some log probabilities', 'top_logprobs', { top_logprobs: 2 }],
  ['biases', 'logit_bias', { logit_bias: { 50256: -100 } }],
  ['functions of old', 'functions', { functions: [{ name: 'look' }] }],
  ['a choice of them', 'function_call', { function_call: { name: 'look' } }],
  ['a result of one', 'messages[1].role', said({ role: 'function', name: 'look', content: '1' })],
  ['an answer in sound', 'modalities', { modalities: ['text', 'audio'] }],
  ['a voice', 'audio', { audio: { voice: 'alloy' } }],
  ['a search', 'web_search_options', { web_search_options: {} }],
  ['a prediction', 'prediction', { prediction: { type: 'content', content: 'x' } }],
  ['a dearer tier', 'service_tier', { service_tier: 'priority' }],
  ['an unknown effort', 'reasoning_effort', { reasoning_effort: 'toString' }],
  ['any JSON', 'response_format', { response_format: { type: 'json_object' } }],
  ['a schema that is none', 'response_format', { response_format: { type: 'json_schema', json_schema: {} } }],
  ['a tool of another kind', 'tools[1]', { tools: [...TOOLS, { type: 'custom', custom: { name: 'sh' } }] }],
  ['a hosted tool', 'tools[0]', { tools: [{ type: 'web_search' }] }],
  ['a choice among some', 'tool_choice', { tools: TOOLS, tool_choice: { type: 'allowed_tools' } }],
  [
    'a choice of another kind',
    'tool_choice',
    { tools: TOOLS, tool_choice: { type: 'custom', custom: { name: 'sh' } } },
  ],
  ['a call of another kind', 'messages[1].tool_calls[0]', calling({ id: 'c', type: 'custom', custom: { name: 'sh' } })],
  ['a blank message', 'messages[0].content', { messages: [user(' \n')] }],
  ['a message of nothing', 'messages[0].content', { messages: [user([])] }],
  ['instructions alone', 'messages', { messages: [{ role: 'system', content: 'Be kind.' }] }],
  ['a sound', 'messages[0].content[0]', part({ type: 'input_audio', input_audio: { data: 'UklGR', format: 'wav' } })],
  ['a file', 'messages[0].content[0]', part({ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE' } })],
  ['a film', 'messages[0].content[0]', part({ type: 'video_url', video_url: { url: 'https://x.test/a.mp4' } })],
  ['an image without encryption', IMAGE_AT, image('http://x.test/a.png')],
  ['an image of another kind', IMAGE_AT, image('data:image/tiff;base64,SUkq')],
  [
    'an image as an instruction',
    'messages[0].content[0]',
    { messages: [{ ...image('x').messages[0], role: 'system' }] },
  ],
  ['cut arguments', ARGUMENTS_AT, calling(call('{"cut'))],
  ['arguments in a list', ARGUMENTS_AT, calling(call('[1]'))],
  ['arguments that are null', ARGUMENTS_AT, calling(call('null'))],
  ['a field of another provider', 'plugins', { plugins: [] }],
  ['a field of a later day', 'x_future', { x_future: false }],
  ['a field named as every object has', 'constructor', { constructor: 1 }],
  ['another one', 'toString', { toString: 1 }],
]

describe('a request that breaks OpenAI’s own contract is rejected by every dialect', () => {
  test.each(MALFORMED)('%s (%s)', async (_, param, request) => {
    expect(await verdictOn(anthropic, request)).toMatchObject({ reason: 'rejected', param })
    expect(await verdictOn(bedrock, request)).toMatchObject({ reason: 'rejected', param })
  })
})

describe('a sound request that neither dialect has words for is left to another route', () => {
  test.each(WITHOUT_WORDS)('%s (%s)', async (_, param, request) => {
    expect(await verdictOn(anthropic, request)).toMatchObject({ reason: 'unsupported', param })
    expect(await verdictOn(bedrock, request)).toMatchObject({ reason: 'unsupported', param })
  })

  test('whatever the length of its name', async () => {
    const name = 'x'.repeat(1_000_000)
    for (const served of [anthropic, bedrock]) {
      const { reason, param } = await verdictOn(served, { [name]: 1 })
      expect([reason, param]).toEqual(['unsupported', 'x'.repeat(100)])
    }
  })
})

describe('a request that one dialect has words for', () => {
  test.each<[string, object]>([
    [IMAGE_AT, image('https://x.test/a.png')],
    ['reasoning_effort', { reasoning_effort: 'low' }],
    ['parallel_tool_calls', { tools: TOOLS, parallel_tool_calls: false }],
    ['thinking', { thinking: { type: 'adaptive' } }],
  ])('is answered there and left to another route elsewhere: %s', async (param, request) => {
    expect((await anthropic.gateway.post(anthropic.secret, { ...HELLO, ...request })).status).toBe(200)
    expect(await verdictOn(bedrock, request)).toMatchObject({ reason: 'unsupported', param })
  })
})

describe('with a second route that speaks OpenAI’s dialect', () => {
  async function askTwoRoutes(request: object) {
    const [first, second] = [await openUpstream(saying('From the first')), await openUpstream(say('From the second'))]
    const { providers, models } = catalogFor(first.url, {}, { type: 'anthropic' })
    const [model] = models as [(typeof models)[number]]
    const routes = ['up', 'other'].flatMap((provider, priority) =>
      model.routes.map((route) => ({ ...route, provider, priority })),
    )
    const gateway = await openFor({
      providers: { ...providers, other: { type: 'openai', baseUrl: second.url } },
      models: [{ ...model, routes }],
    })
    const response = await gateway.post((await gateway.issue()).secret, { ...HELLO, ...request })
    return { status: response.status, attempts: response.headers.get('x-svc-attempts'), text: await response.text() }
  }

  test('what the first has no words for is answered by the second', async () => {
    expect(await askTwoRoutes({ logprobs: true })).toMatchObject({
      status: 200,
      attempts: 'up=unsupported, other=ok',
      text: expect.stringContaining('From the second'),
    })
  })

  test('what is malformed is not tried there', async () => {
    const malformed = calling({ ...call('{}'), id: undefined })
    expect(await askTwoRoutes(malformed)).toMatchObject({ status: 400, attempts: 'up=rejected' })
  })

  test('what neither takes is a 400 that names it', async () => {
    const { status, attempts, text } = await askTwoRoutes({ plugins: [{ id: 'web' }] })
    expect([status, attempts]).toEqual([400, 'up=unsupported, other=unsupported'])
    expect(text).toContain("'plugins'")
  })
})

describe('a request with hints only is answered by every dialect', () => {
  test.each<[string, object]>([
    ['hints', { seed: 1, presence_penalty: 1, user: 'u', metadata: { a: 'b' }, store: true, verbosity: 'low' }],
    ['hints of other providers', { top_k: 40, min_p: 0.1, usage: { include: true }, random_seed: 7 }],
    ['values that ask for nothing', { n: 1, logprobs: false, logit_bias: {}, functions: [], function_call: 'none' }],
    ['the standard tier', { service_tier: 'default', modalities: ['text'] }],
    ['nulls', { prediction: null, x_future: null, tools: null, tool_choice: null, audio: null }],
    ['parallel calls of no tools', { parallel_tool_calls: false }],
  ])('%s', async (_, request) => {
    for (const { gateway, secret } of [anthropic, bedrock]) {
      const response = await gateway.post(secret, { ...HELLO, ...request })
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hello')])
    }
  })
})
