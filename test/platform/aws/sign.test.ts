import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { SignatureV4 } from '@smithy/signature-v4'
import { signer } from '../../../layers/gateway/platform/aws/sign.ts'
import { signRequest } from '../../../layers/gateway/platform/aws/sign-request.ts'
import type { Credentials } from '../../../layers/gateway/platform/config.ts'
import { randomAttributes } from '../../local/dynamodb/random-expressions.ts'
import { canonical } from '../../local/dynamodb/side-by-side.ts'
import { Random } from '../../simulation/random.ts'

const NOW = Date.UTC(2026, 10, 15, 23, 59, 58)
const HOST = 'dynamodb.eu-central-1.amazonaws.com'
const CONTENT_TYPE = 'application/x-amz-json-1.0'
const KEYS: Credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const SESSION: Credentials = { ...KEYS, sessionToken: 'IQoJb3JpZ2luX2VjEXAMPLE//+=' }

/** In the form in which AWS's signer takes one. */
const { sha256 } = new DynamoDBClient({ region: 'eu-central-1' }).config

type Call = {
  readonly target?: string
  readonly body: string
  readonly credentials: Credentials
  readonly nowMs: number
}

/** Ours and AWS's signature of a call to a service. */
async function bothSign(call: Call, sign = open(), [service, path]: readonly [string, string] = ['dynamodb', '/']) {
  const { target, body, credentials, nowMs } = call
  const aws = new SignatureV4({ service, region: 'eu-central-1', credentials, sha256, applyChecksum: false })
  const headers = { host: HOST, 'content-type': CONTENT_TYPE, ...(target && { 'x-amz-target': target }) }
  const request = { method: 'POST', protocol: 'https:', hostname: HOST, path, query: {}, headers, body }
  const theirs = await aws.sign(request, { signingDate: new Date(nowMs) })
  // The host, which is signed, is sent with every request.
  return { ours: { ...asRecord(sign(call)), host: HOST }, theirs: theirs.headers }
}

function asRecord(headers: string[]): Record<string, string> {
  const pairs = headers.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), headers[i + 1]]] : []))
  return Object.fromEntries(pairs)
}

const open = (service = 'dynamodb', path = '/') =>
  signer({ service, region: 'eu-central-1', host: HOST, contentType: CONTENT_TYPE, path })

test.each([
  ['keys alone', KEYS],
  ['keys and a session token', SESSION],
])('a call to AWS with %s has the signature of AWS’s own signer, whatever its body', async (_, credentials) => {
  const random = new Random(1)
  const sign = open()
  for (let i = 0; i < 50; i++) {
    const target = `DynamoDB_20120810.${random.pick(['GetItem', 'UpdateItem', 'Query'])}`
    const body = canonical(randomAttributes(random))
    const { ours, theirs } = await bothSign({ target, body, credentials, nowMs: NOW + random.below(10 ** 9) }, sign)
    expect(ours).toEqual(theirs)
  }
})

test('a kept signing key is used for its own day and secret only', async () => {
  const sign = open()
  const other = { ...KEYS, secretAccessKey: 'another' }
  for (const [nowMs, credentials] of [
    [NOW, KEYS],
    [NOW + 2_000, KEYS],
    [NOW + 2_000, other],
    [NOW, KEYS],
  ] as const) {
    const { ours, theirs } = await bothSign(
      { target: 'DynamoDB_20120810.GetItem', body: '{}', credentials, nowMs },
      sign,
    )
    expect(ours).toEqual(theirs)
  }
})

/** The moment of AWS's published example. */
const EXAMPLE_MS = Date.UTC(2015, 7, 30, 12, 36, 0)

test('a call is signed as in AWS’s published example', () => {
  const sign = signer({
    service: 'service',
    region: 'us-east-1',
    host: 'example.amazonaws.com',
    contentType: 'application/x-www-form-urlencoded',
  })
  expect(asRecord(sign({ body: 'Param1=value1', credentials: KEYS, nowMs: EXAMPLE_MS })).authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  )
})

test.each([KEYS, SESSION])(
  'a call to a path, as Lambda’s are, is signed as by AWS’s own signer (%#)',
  async (credentials) => {
    const to = ['lambda', '/2015-03-31/functions/Waybill-dev-Tokenizer_1/invocations'] as const
    const body = JSON.stringify({ texts: ['žluťoučký', '漢字', '👍'] })
    const { ours, theirs } = await bothSign({ body, credentials, nowMs: EXAMPLE_MS }, open(...to), to)
    expect(ours).toEqual(theirs)
  },
)

const QUERY = { b: ['2', '10'], 'a-b': ['x y'], a: ["é!'()*"], 'a.b': [''] }

test.each([
  ['a GET without a query', 'GET', 'bedrock', '/foundation-models', {}, undefined],
  ['a GET with a query', 'GET', 'execute-api', '/admin/v1/keys', QUERY, undefined],
  ['a path with encoded and other characters', 'GET', 'lambda', '/functions/a%3Ab:c=d/~x', QUERY, undefined],
  ['a body', 'PATCH', 'execute-api', '/admin/v1/keys/key_1', {}, new TextEncoder().encode('{"note":"é"}')],
  ['a body of text', 'POST', 'sts', '/', {}, 'Action=GetCallerIdentity'],
] as const)('%s is signed as by AWS’s own signer', async (_, method, service, path, query, body) => {
  const [region, host] = ['eu-central-1', 'service.example']
  for (const credentials of [KEYS, SESSION]) {
    const headers = { host, 'if-match': '"1"', accept: 'a,   b ' }
    const request = { method, path, query, headers, ...(body !== undefined && { body }) }
    const theirs = await new SignatureV4({ credentials, region, service, sha256 }).sign(
      { ...request, protocol: 'https:', hostname: host, query: structuredClone(query) as Record<string, string[]> },
      { signingDate: new Date(NOW) },
    )
    expect(signRequest({ service, region, credentials, nowMs: NOW }, request)).toEqual(theirs.headers)
  }
})
