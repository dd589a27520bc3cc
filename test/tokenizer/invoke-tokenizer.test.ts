import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { CountTokens } from '../../layers/gateway/flow/count-texts.ts'
import { invokeTokenizer, tokenizerPost } from '../../layers/gateway/tokenizer/invoke-tokenizer.ts'
import type { TokenQuestion } from '../../layers/tokenizer/answer-question.ts'

const PRIVATE = 'the-prompt-of-a-caller'
const LONG_MS = 60_000

type Call = { readonly path: string; readonly headers: IncomingMessage['headers']; readonly question: TokenQuestion }
type Serve = (response: ServerResponse, call: Call) => void

const calls: Call[] = []
let serve: Serve
const server = createServer(async (request, response) => {
  const question = (await json(request)) as TokenQuestion
  const call = { path: request.url ?? '', headers: request.headers, question }
  calls.push(call)
  serve(response, call)
})
let countTokens: CountTokens

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'session',
  })
})
beforeEach(() => {
  calls.length = 0
  serve = count
  countTokens = invokeTokenizer(tokenizerPost('Tokenizer-1'))
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
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

describe('the tokenizer’s function', () => {
  test('is invoked by Lambda’s API with all texts in one signed call', async () => {
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

  test('is asked with less than 256 KiB for 128 Ki characters of English', async () => {
    const texts = Array<string>(64).fill('w'.repeat(2_048))
    await countTokens(texts, LONG_MS)
    expect(Number(calls[0]?.headers['content-length'])).toBeLessThan(256 * 1024)
  })

  test('gets a character that was cut in half as the sign for that, because Lambda takes valid text only', async () => {
    expect(await countTokens(['a\ud83d', '\udc4db'], LONG_MS)).toEqual([2, 2])
    expect(calls[0]?.question.texts).toEqual(['a\ufffd', '\ufffdb'])
  })

  test.each([
    ['its kept connection is broken', firstly((response) => void response.destroy())],
    ['Lambda has no room for it', firstly(refuse(429, 'TooManyRequestsException'))],
    ['Lambda itself fails', firstly(refuse(500, 'ServiceException'))],
  ])('is asked once more if %s', async (_, fault) => {
    await countTokens(['warm'], LONG_MS)
    serve = fault
    expect(await countTokens(['four'], LONG_MS)).toEqual([4])
    expect(calls).toHaveLength(3)
  })

  test('is not asked a third time', async () => {
    serve = refuse(503, 'ServiceUnavailableException')
    expect(await failureOf(countTokens([PRIVATE], LONG_MS))).toBe(
      'lambda: the status 503 (ServiceUnavailableException).',
    )
    expect(calls).toHaveLength(2)
  })

  test.each([
    [403, 'AccessDeniedException'],
    [404, 'ResourceNotFoundException'],
    [400, 'InvalidRequestContentException'],
  ])('is not asked again after a %i %s, and the error has the kind but not the words', async (status, kind) => {
    serve = refuse(status, kind)
    expect(await failureOf(countTokens([PRIVATE], LONG_MS))).toBe(`lambda: the status ${status} (${kind}).`)
    expect(calls).toHaveLength(1)
  })

  test.each<[string, string]>([
    ['failed', `{"errorType":"Error","errorMessage":"${PRIVATE}"}`],
    ['answers no JSON', PRIVATE],
    ['answers nothing', ''],
    ['answers null', 'null'],
  ])('that %s is an error without its words', async (_, answer) => {
    serve = (response) => void response.end(answer)
    expect(await failureOf(countTokens([PRIVATE], LONG_MS))).toContain('The tokenizer function failed')
  })

  test('that answers without an end is given up', async () => {
    serve = (response) => void response.end(PRIVATE.repeat(100_000))
    expect(await failureOf(countTokens([PRIVATE], LONG_MS))).toBe('lambda: too long an answer.')
  })

  test('that does not answer is not waited for longer than there is time', async () => {
    serve = () => {}
    expect(await failureOf(countTokens([PRIVATE], 60))).toMatch(/^lambda: no answer within \d+ ms\.$/)
    expect(calls).toHaveLength(1)
  })

  test('is not there: that is an error, too', async () => {
    const { AWS_ENDPOINT_URL_LAMBDA, AWS_REGION } = process.env
    process.env.AWS_ENDPOINT_URL_LAMBDA = 'http://127.0.0.1:9'
    expect(await failureOf(countTokens([PRIVATE], LONG_MS))).toBe('lambda: ECONNREFUSED.')
    delete process.env.AWS_REGION
    const elsewhere = invokeTokenizer(tokenizerPost('Tokenizer-1'))
    expect(await failureOf(elsewhere([PRIVATE], LONG_MS))).toContain('AWS_REGION is not set')
    Object.assign(process.env, { AWS_ENDPOINT_URL_LAMBDA, AWS_REGION })
  })
})
