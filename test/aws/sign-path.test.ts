import { createHash, createHmac } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { SignatureV4 } from '@smithy/signature-v4'
import { signer } from '../../layers/gateway/aws/sign.ts'

const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const NOW_MS = Date.UTC(2015, 7, 30, 12, 36, 0)

/** As AWS's signer wants a hash to be. */
class Sha256 {
  readonly #hash: { update(data: Uint8Array | string): unknown; digest(): Uint8Array }

  constructor(secret?: Uint8Array | string) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret)
  }

  update(data: Uint8Array | string): void {
    this.#hash.update(data)
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {}
}

const headersOf = (flat: readonly string[]) =>
  Object.fromEntries(
    flat.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), flat[i + 1]] as const] : [])),
  ) as Record<string, string>

test('a call is signed as in AWS’s published example', () => {
  const sign = signer({
    service: 'service',
    region: 'us-east-1',
    host: 'example.amazonaws.com',
    contentType: 'application/x-www-form-urlencoded',
  })
  expect(headersOf(sign({ body: 'Param1=value1', credentials: CREDENTIALS, nowMs: NOW_MS })).authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  )
})

test.each([
  ['to a path, as Lambda’s are', { path: '/2015-03-31/functions/Waybill-dev-Tokenizer_1/invocations' }],
  ['of a role with a session', { path: '/2015-03-31/functions/x/invocations', sessionToken: 'session/token+==' }],
  ['to a target, as DynamoDB’s are', { target: 'DynamoDB_20120810.GetItem', sessionToken: 'token' }],
])(
  'a call %s is signed as by AWS’s own signer',
  async (_, {
    path = '/',
    target = undefined,
    sessionToken = undefined,
  }: { path?: string; target?: string; sessionToken?: string }) => {
    const credentials = { ...CREDENTIALS, ...(sessionToken && { sessionToken }) }
    const [service, region, hostname] = ['lambda', 'eu-central-1', 'lambda.eu-central-1.amazonaws.com'] as const
    const body = JSON.stringify({ texts: ['žluťoučký', '漢字', '👍'] })
    const sign = signer({ service, region, host: hostname, path, contentType: 'application/json' })
    const ours = headersOf(sign({ body, credentials, nowMs: NOW_MS, ...(target && { target }) }))
    const theirs = await new SignatureV4({
      credentials,
      region,
      service,
      sha256: Sha256 as never,
      applyChecksum: false,
    }).sign(
      {
        method: 'POST',
        protocol: 'https:',
        hostname,
        path,
        headers: { host: hostname, 'content-type': 'application/json', ...(target && { 'x-amz-target': target }) },
        body,
      },
      { signingDate: new Date(NOW_MS) },
    )
    expect(ours).toEqual(theirs.headers)
  },
)
