import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { SignatureV4 } from '@smithy/signature-v4'
import { openBucket } from '../../../layers/gateway/platform/aws/put-object.ts'

type Heard = { readonly request: IncomingMessage; readonly body: Buffer }

const NOW = Date.UTC(2026, 10, 15, 23, 59, 58)
const PATH = 'usage/dt=2026-11-14/00000.json.gz'
const { sha256 } = new DynamoDBClient({ region: 'eu-central-1' }).config
const heard: Heard[] = []
let answers: ((response: ServerResponse) => unknown)[] = []
const server = createServer(async (request, response) => {
  heard.push({ request, body: await buffer(request) })
  const answer = answers.shift() ?? ((it) => it.end())
  answer(response)
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void server.close())
beforeEach(() => {
  heard.length = 0
  answers = []
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    AWS_SESSION_TOKEN: 'IQoJb3JpZ2luX2VjEXAMPLE//+=',
  })
})

const refuse = (status: number, code: string) => (response: ServerResponse) =>
  response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`)

test('an object is put with the signature that AWS’s own signer makes for S3, and arrives byte for byte', async () => {
  const bytes = gzipSync('{"request_id":"req_1"}\n')
  await openBucket('waybill-export', () => NOW)(PATH, bytes)
  const [{ request, body } = {} as Heard] = heard
  expect([request.method, request.url]).toEqual(['PUT', `/waybill-export/${PATH}`])
  expect(gunzipSync(body).toString()).toBe('{"request_id":"req_1"}\n')
  const aws = new SignatureV4({
    service: 's3',
    region: 'eu-central-1',
    credentials: {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      sessionToken: 'IQoJb3JpZ2luX2VjEXAMPLE//+=',
    },
    sha256,
    uriEscapePath: false,
  })
  const [hostname = '', port] = String(request.headers.host).split(':')
  const toSign = {
    method: 'PUT',
    protocol: 'http:',
    hostname,
    port: Number(port),
    path: `/waybill-export/${PATH.replace('=', '%3D')}`,
    query: {},
    headers: { host: String(request.headers.host) },
    body: bytes,
  }
  const { headers } = await aws.sign(toSign, { signingDate: new Date(NOW) })
  expect(request.headers).toMatchObject({
    authorization: headers.authorization,
    'x-amz-content-sha256': headers['x-amz-content-sha256'],
    'x-amz-date': headers['x-amz-date'],
  })
})

test('a put that S3 is too busy for is made again, and one that it refuses is not', async () => {
  answers = [refuse(503, 'SlowDown'), (response) => response.socket?.destroy(), refuse(400, 'RequestTimeout')]
  await openBucket('waybill-export')(PATH, new Uint8Array([1]))
  expect(heard).toHaveLength(4)
  answers = [refuse(403, 'AccessDenied')]
  await expect(openBucket('waybill-export')(PATH, new Uint8Array([1]))).rejects.toMatchObject({
    name: 'AccessDenied',
    message: `S3 answered 403 to ${PATH}.`,
  })
  expect(heard).toHaveLength(5)
})
