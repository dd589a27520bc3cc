import type { ServerResponse } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { SignatureV4 } from '@smithy/signature-v4'
import { openBucket } from '../../../layers/gateway/platform/aws/put-object.ts'
import { readCredentials } from '../../../layers/gateway/platform/config.ts'
import { openAwsService } from './support/aws-service.ts'

const NOW = Date.UTC(2026, 10, 15, 23, 59, 58)
const PATH = 'usage/dt=2026-11-14/00000.json.gz'
const { sha256 } = new DynamoDBClient({ region: 'eu-central-1' }).config
const service = await openAwsService('S3', (response) => response.end())

const refuse = (status: number, code: string) => (response: ServerResponse) =>
  response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`)

test('an object is put with the signature that AWS’s own signer makes for S3, and arrives byte for byte', async () => {
  process.env.AWS_SESSION_TOKEN = 'IQoJb3JpZ2luX2VjEXAMPLE//+='
  const bytes = gzipSync('{"request_id":"req_1"}\n')
  await openBucket('waybill-export', () => NOW)(PATH, bytes)
  const [{ method, url, headers: heard, body }] = service.heard as [(typeof service.heard)[0]]
  expect([method, url]).toEqual(['PUT', `/waybill-export/${PATH}`])
  expect(gunzipSync(body).toString()).toBe('{"request_id":"req_1"}\n')
  const aws = new SignatureV4({
    service: 's3',
    region: 'eu-central-1',
    credentials: readCredentials(),
    sha256,
    uriEscapePath: false,
  })
  const [hostname = '', port] = String(heard.host).split(':')
  const toSign = {
    method: 'PUT',
    protocol: 'http:',
    hostname,
    port: Number(port),
    path: `/waybill-export/${PATH.replace('=', '%3D')}`,
    query: {},
    headers: { host: String(heard.host) },
    body: bytes,
  }
  const { headers } = await aws.sign(toSign, { signingDate: new Date(NOW) })
  expect(heard).toMatchObject({
    authorization: headers.authorization,
    'x-amz-content-sha256': headers['x-amz-content-sha256'],
    'x-amz-date': headers['x-amz-date'],
  })
})

test('a put that S3 is too busy for is made again, and one that it refuses is not', async () => {
  service.answers = [refuse(503, 'SlowDown'), (response) => response.socket?.destroy(), refuse(400, 'RequestTimeout')]
  await openBucket('waybill-export')(PATH, new Uint8Array([1]))
  expect(service.heard).toHaveLength(4)
  service.answers = [refuse(403, 'AccessDenied')]
  await expect(openBucket('waybill-export')(PATH, new Uint8Array([1]))).rejects.toMatchObject({
    name: 'AccessDenied',
    message: `S3 answered 403 to ${PATH}.`,
  })
  expect(service.heard).toHaveLength(5)
})
