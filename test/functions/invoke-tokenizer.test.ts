import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { beforeEach, expect, test } from '@jest/globals'
import { invokeTokenizer } from '../../functions/invoke-tokenizer.ts'
import type { CountTokens } from '../../layers/gateway/flow/billing/count-texts.ts'
import type { TokenQuestion } from '../../layers/tokenizer/answer-question.ts'
import { openServer } from '../support/stack.ts'

const PRIVATE = 'the-prompt-of-a-caller'
const LONG_MS = 60_000

type Call = { readonly path: string; readonly headers: IncomingMessage['headers']; readonly question: TokenQuestion }
type Serve = (response: ServerResponse, call: Call) => void

const calls: Call[] = []
let serve: Serve
const endpoint = await openServer(async (request, response) => {
  const question = (await json(request)) as TokenQuestion
  const call = { path: request.url ?? '', headers: request.headers, question }
  calls.push(call)
  serve(response, call)
})
let countTokens: CountTokens

Object.assign(process.env, {
  AWS_ENDPOINT_URL_LAMBDA: endpoint,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 'session',
})
beforeEach(() => {
  calls.length = 0
  serve = count
  countTokens = invokeTokenizer('Tokenizer-1')
})

const count: Serve = (response, { question }) => {
  response.end(JSON.stringify({ tokens: question.texts.map(({ length }) => length) }))
}

function refuse(status: number, errorType: string): Serve {
  return (response) =>
    void response.writeHead(status, { 'x-amzn-ErrorType': `${errorType}:http://x` }).end(`{"Message":"${PRIVATE}"}`)
}

/** The first is served otherwise. */
function firstly(first: Serve): Serve {
  return (response, call) => {
    serve = count
    first(response, call)
  }
}

async function failureOf(counting: Promise<unknown>): Promise<string> {
  const error = (await counting.then(
    () => new Error('It was counted.'),
    (reason) => reason,
  )) as Error
  expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain(PRIVATE)
  return error.message
}

test('the tokenizer function is invoked by Lambda’s API with all texts in one signed call', async () => {
  expect(await countTokens(['one', PRIVATE], LONG_MS)).toEqual([3, PRIVATE.length])
  expect(calls).toMatchObject([
    {
      path: '/2015-03-31/functions/Tokenizer-1/invocations',
      question: { texts: ['one', PRIVATE] },
      headers: {
        'content-type': 'application/json',
        'x-amz-security-token': 'session',
        authorization: expect.stringMatching(
          /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/lambda\/aws4_request, .*Signature=[0-9a-f]{64}$/,
        ),
      },
    },
  ])
})

test('the tokenizer function is sent less than 256 KiB for 128 Ki characters of English', async () => {
  await countTokens(Array<string>(64).fill('w'.repeat(2_048)), LONG_MS)
  expect(Number(calls[0]?.headers['content-length'])).toBeLessThan(256 * 1024)
})

test('the tokenizer function is sent valid Unicode, also of a character that was cut in half', async () => {
  expect(await countTokens(['a\ud83d', '\udc4db'], LONG_MS)).toEqual([2, 2])
  expect(calls[0]?.question.texts).toEqual(['a\ufffd', '\ufffdb'])
})

test.each([
  ['a kept connection is broken', firstly((response) => void response.destroy())],
  ['Lambda has no room for it', firstly(refuse(429, 'TooManyRequestsException'))],
  ['Lambda itself fails', firstly(refuse(500, 'ServiceException'))],
])('the tokenizer function is invoked once more if %s', async (_, fault) => {
  await countTokens(['warm'], LONG_MS)
  serve = fault
  expect(await countTokens(['four'], LONG_MS)).toEqual([4])
  expect(calls).toHaveLength(3)
})

test('the tokenizer function is not invoked a third time', async () => {
  serve = refuse(503, 'ServiceUnavailableException')
  expect(await failureOf(countTokens([PRIVATE], LONG_MS))).toContain(
    'could not be invoked: ServiceUnavailableException.',
  )
  expect(calls).toHaveLength(2)
})

test.each([
  [403, 'AccessDeniedException'],
  [404, 'ResourceNotFoundException'],
  [400, 'InvalidRequestContentException'],
])(
  'a %i %s of Lambda is told without its words, and the tokenizer function is not invoked again',
  async (status, kind) => {
    serve = refuse(status, kind)
    expect(await failureOf(countTokens([PRIVATE], LONG_MS))).toBe(
      `The tokenizer function could not be invoked: ${kind}.`,
    )
    expect(calls).toHaveLength(1)
  },
)

test.each<[string, string]>([
  ['with an error of its own', `{"errorType":"Error","errorMessage":"${PRIVATE}"}`],
  ['with something else than JSON', PRIVATE],
  ['with nothing', ''],
  ['with null', 'null'],
])('a tokenizer function that answers %s is an error that quotes nothing', async (_, answer) => {
  serve = (response) => void response.end(answer)
  expect(await failureOf(countTokens([PRIVATE], LONG_MS))).toMatch(/failed, or answered|could not be invoked/)
})

test('a tokenizer function that does not answer is not waited for longer than there is time', async () => {
  serve = () => {}
  expect(await failureOf(countTokens([PRIVATE], 60.5))).toBe('The tokenizer function did not answer in time.')
  expect(calls).toHaveLength(1)
  expect(await failureOf(countTokens([PRIVATE], 0))).toBe('The tokenizer function did not answer in time.')
})

test('a tokenizer function that cannot be reached is an error that says why', async () => {
  const { AWS_ENDPOINT_URL_LAMBDA, AWS_REGION } = process.env
  process.env.AWS_ENDPOINT_URL_LAMBDA = 'http://127.0.0.1:9'
  expect(await failureOf(countTokens([PRIVATE], LONG_MS))).toContain('ECONNREFUSED')
  delete process.env.AWS_REGION
  expect(await failureOf(invokeTokenizer('x')([PRIVATE], LONG_MS))).toContain('AWS_REGION is not set')
  Object.assign(process.env, { AWS_ENDPOINT_URL_LAMBDA, AWS_REGION })
})
