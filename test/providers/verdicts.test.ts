import { describe, expect, test } from '@jest/globals'
import { catalogFor, type TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { openAnthropic, saying } from './anthropic/anthropic-fixtures.ts'
import { openBedrock } from './bedrock/bedrock-upstream.ts'

type Served = { readonly gateway: TestGateway; readonly upstream: { readonly requests: readonly unknown[] } }

const [anthropic, bedrock] = [await openAnthropic(), await openBedrock()]

/** The error for a request that is refused before anything is sent. */
async function verdictOn({ gateway, upstream }: Served, request: object) {
  const sentBefore = upstream.requests.length
  const { status, text, row } = await gateway.ask(request)
  const { error } = JSON.parse(text) as { error: { code: string; param: string; message: string } }
  expect([status, upstream.requests.length, row.cost, row.attempts]).toEqual([400, sentBefore, 0n, []])
  expect(error.message.length).toBeLessThan(300)
  return {
    reason: /^invalid_/.test(error.code) ? 'rejected' : 'unsupported',
    param: error.param,
    message: error.message,
  }
}

const user = (content: unknown) => ({ role: 'user', content })
const said = (message: object) => ({ messages: [user('Hi'), message] })
const part = (content: object) => ({ messages: [user([content])] })
const image = (url: unknown) => part({ type: 'image_url', image_url: { url } })
const calling = (...tool_calls: unknown[]) => said({ role: 'assistant', content: null, tool_calls })
const call = (args: unknown) => ({ id: 'c', type: 'function', function: { name: 'look', arguments: args } })
const TOOLS = [{ type: 'function', function: { name: 'look' } }]
const UNNAMED = { tools: [{ type: 'function' }] }
const PART_AT = 'messages[0].content[0]'
const IMAGE_AT = `${PART_AT}.image_url.url`
const CALL_AT = 'messages[1].tool_calls[0]'
const RESULT_AT = 'messages[1].tool_call_id'
const ARGUMENTS_AT = `${CALL_AT}.function.arguments`
const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`

type Verdict = [name: string, param: string, request: object, words?: string]

const MALFORMED: Verdict[] = [
  ['a tool call without an id', `${CALL_AT}.id`, calling({ ...call('{}'), id: undefined })],
  ['a tool call without a name', CALL_AT, calling({ id: 'c', type: 'function', function: {} }), 'name'],
  ['a tool call without a function', CALL_AT, calling({ id: 'c', type: 'function' })],
  ['a tool result without a call id', RESULT_AT, said({ role: 'tool', content: '1' }), 'id'],
  ['a tool result with a blank call id', RESULT_AT, said({ role: 'tool', tool_call_id: '', content: '1' })],
  ['a tool choice of other models', 'tool_choice', { tools: TOOLS, tool_choice: 'any' }],
  ['a tool choice without a name', 'tool_choice', { tools: TOOLS, tool_choice: { type: 'function' } }],
  ['a tool without a function name', 'tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
  ['a tool without a function', 'tools[0].function.name', { ...UNNAMED, tool_choice: 'none' }, 'string'],
  ['an image without a URL', IMAGE_AT, part({ type: 'image_url' })],
  ['an image that is not base64', IMAGE_AT, image('data:image/png;base64,%%%'), 'base64'],
  ['an empty image', IMAGE_AT, image('data:image/png;base64,')],
  ['an image of white space', IMAGE_AT, image('data:image/png;base64, \n ')],
  ['an image that goes on after its base64 end', IMAGE_AT, image('data:image/png;base64,AAA=AAAA')],
  ['tool arguments 65 levels deep', ARGUMENTS_AT, calling(call(deep(64)))],
  ['tool arguments 100,000 levels deep', ARGUMENTS_AT, calling(call(deep(100_000)))],
]

const WITHOUT_WORDS: Verdict[] = [
  ['a field of Bedrock’s own', 'additionalModelRequestFields', { additionalModelRequestFields: {} }, 'Unknown field'],
  ['two choices', 'n', { n: 2 }, "'n' must be 1"],
  ['log probabilities', 'logprobs', { logprobs: true, top_logprobs: 2 }, 'log probabilities'],
  ['top log probabilities', 'top_logprobs', { top_logprobs: 2 }],
  ['token biases', 'logit_bias', { logit_bias: { 50256: -100 } }, 'biases'],
  ['the old functions field', 'functions', { functions: [{ name: 'look' }] }, "use 'tools'"],
  ['the old function_call field', 'function_call', { function_call: { name: 'look' } }, "use 'tool_choice'"],
  ['a message with the old function role', 'messages[1].role', said({ role: 'function', content: '1' }), 'function'],
  ['audio output', 'modalities', { modalities: ['text', 'audio'] }, 'text'],
  ['a voice', 'audio', { audio: { voice: 'alloy' } }, 'what the provider bills'],
  ['a predicted output', 'prediction', { prediction: { type: 'content', content: 'x' } }],
  ['an unknown service tier', 'service_tier', { service_tier: 'gold' }],
  ['JSON without a schema', 'response_format', { response_format: { type: 'json_object' } }, 'json_schema'],
  ['an empty JSON schema', 'response_format', { response_format: { type: 'json_schema', json_schema: {} } }],
  ['a hosted tool', 'tools[0]', { tools: [{ type: 'web_search' }] }],
  ['a blank message', 'messages[0].content', { messages: [user(' \n')] }, 'blank'],
  ['a message without parts', 'messages[0].content', { messages: [user([])] }],
  ['system messages only', 'messages', { messages: [{ role: 'system', content: 'Be kind.' }] }, 'instructions'],
  ['audio input', PART_AT, part({ type: 'input_audio', input_audio: { data: 'UklGR', format: 'wav' } }), 'input_audio'],
  ['a file', PART_AT, part({ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE' } })],
  ['a video', PART_AT, part({ type: 'video_url', video_url: { url: 'https://x.test/a.mp4' } })],
  ['a TIFF image', IMAGE_AT, image('data:image/tiff;base64,SUkq'), 'PNG'],
  ['tool arguments that are cut off', ARGUMENTS_AT, calling(call('{"cut')), 'JSON'],
  ['tool arguments in a list', ARGUMENTS_AT, calling(call('[1]'))],
  ['tool arguments that are null', ARGUMENTS_AT, calling(call('null'))],
  ['a field of another provider', 'plugins', { plugins: [] }],
  ['an unknown field', 'x_future', { x_future: false }],
  ['a field named constructor', 'constructor', { constructor: 1 }],
  ['a field named toString', 'toString', { toString: 1 }],
]

/** Refused before a route is chosen, because they are wrong wherever they go. */
const WRONG: Verdict[] = [
  ['an unknown tool choice', 'tool_choice', { tools: TOOLS, tool_choice: 'toString' }],
  [
    'an image in an assistant message',
    'messages[1].content[0].type',
    said({ role: 'assistant', content: image('https://x.test/a.png').messages[0]?.content }),
  ],
  ['a tool call that is a number', CALL_AT, calling(7)],
  ['tool calls that are not a list', 'messages[1].tool_calls', said({ role: 'assistant', tool_calls: {} })],
  ['a tool choice of an unknown type', 'tool_choice.type', { tools: TOOLS, tool_choice: { type: 'constructor' } }],
  ['a malformed tool choice and no tools', 'tool_choice.type', { tool_choice: {} }],
  ['an image with a number for a URL', IMAGE_AT, image(7)],
  ['an image at an address of this machine', IMAGE_AT, image('https://127.0.0.1/a.png')],
  [
    'an image in a system message',
    'messages[0].content[0].type',
    { messages: [{ ...image('x').messages[0], role: 'system' }] },
    'text',
  ],
]

test.each([
  ['', WRONG],
  ['rejected', MALFORMED],
  ['unsupported', WITHOUT_WORDS],
] as const)('Anthropic and Bedrock say where a request is wrong (%s)', async (reason, verdicts) => {
  for (const [name, param, request, words = ''] of verdicts) {
    for (const served of [anthropic, bedrock]) {
      const verdict = await verdictOn(served, request)
      expect({ name, ...verdict }).toMatchObject({
        ...{ name, param, message: expect.stringContaining(words) },
        ...(reason && { reason }),
      })
    }
  }
})

test('a request with a field name of a million characters is left to other routes by Anthropic and Bedrock', async () => {
  const name = 'x'.repeat(1_000_000)
  for (const served of [anthropic, bedrock]) {
    const { reason, param } = await verdictOn(served, { [name]: 1 })
    expect([reason, param]).toEqual(['unsupported', 'x'.repeat(100)])
  }
})

test('arguments that a tokenizer would make longer than they came, escaped, are rejected by Anthropic and Bedrock', async () => {
  const text = `{"a":"${'\\ufdfa'.repeat(1_000)}"}`
  const request = { tools: TOOLS, ...calling(call(text)) }
  for (const served of [anthropic, bedrock]) {
    const { reason, message } = await verdictOn(served, request)
    expect([reason, message]).toEqual(['rejected', expect.stringContaining('would become longer')])
  }
})

test.each<[string, object, string]>([[IMAGE_AT, image('https://x.test/a.png'), 'data:']])(
  'a request that sets %s is answered by Anthropic and left to other routes by Bedrock',
  async (param, request, words) => {
    expect((await anthropic.gateway.ask(request)).status).toBe(200)
    const message = expect.stringContaining(words)
    expect(await verdictOn(bedrock, request)).toMatchObject({ reason: 'unsupported', param, message })
  },
)

describe('two routes', () => {
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
    const { response, status, text } = await gateway.ask(request)
    return { status, attempts: response.headers.get('x-svc-attempts'), text }
  }

  test('a request that Anthropic cannot express is answered by the second, OpenAI-compatible route', async () => {
    expect(await askTwoRoutes({ logprobs: true })).toMatchObject({
      status: 200,
      attempts: 'other=ok',
      text: expect.stringContaining('From the second'),
    })
  })

  test('a malformed request is not tried on the second route', async () => {
    const malformed = calling({ ...call('{}'), id: undefined })
    expect(await askTwoRoutes(malformed)).toMatchObject({ status: 400, attempts: null })
  })

  test('a field that neither route takes is a 400 that names it', async () => {
    const { status, attempts, text } = await askTwoRoutes({ plugins: [{ id: 'web' }] })
    expect([status, attempts]).toEqual([400, null])
    expect(text).toContain("'plugins' is not passed on")
  })
})

test.each<[string, object]>([
  [
    'hints such as a seed',
    { seed: 1, presence_penalty: 1, user: 'u', metadata: { a: 'b' }, store: true, verbosity: 'low' },
  ],
  ['hints of other providers', { top_k: 40, min_p: 0.1, usage: { include: true }, random_seed: 7 }],
  ['values that ask for nothing', { n: 1, logprobs: false, logit_bias: {}, functions: [], function_call: 'none' }],
  ['the standard service tier', { service_tier: 'default', modalities: ['text'] }],
  ['null for fields that they lack', { prediction: null, x_future: null, tools: null, tool_choice: null, audio: null }],
  ['parallel tool calls turned off but no tools', { parallel_tool_calls: false }],
])('a request with %s is answered by Anthropic and Bedrock', async (_, request) => {
  for (const { gateway } of [anthropic, bedrock]) {
    expect(await gateway.ask(request)).toMatchObject({ status: 200, text: expect.stringContaining('Hello') })
  }
})
