import { GetItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, expect, test } from '@jest/globals'
import { signer } from '../../../layers/gateway/platform/aws/sign.ts'
import type { Credentials } from '../../../layers/gateway/platform/config.ts'
import { freshCredentials, startDatabase } from '../../../local/database-thread.ts'
import { sdkClient } from '../../support/sdk-database.ts'

const stack = new AsyncDisposableStack()
const credentials = freshCredentials()

const database = await startDatabase({ file: null, credentials }, stack)
afterAll(() => stack.disposeAsync())

const TARGET = 'DynamoDB_20120810.ListTables'
const DELETE = 'DynamoDB_20120810.DeleteTable'
const CONTENT_TYPE = 'application/x-amz-json-1.0'

type Change = { body?: string; headers?: Record<string, string>; by?: Credentials; nowMs?: number; path?: string }

/** A signed call, with something changed after it was signed. */
async function call({ body, headers = {}, by = credentials, nowMs = Date.now(), path = '/' }: Change = {}) {
  const { host } = new URL(database.endpoint)
  const sign = signer({ service: 'dynamodb', region: 'us-east-1', host, contentType: CONTENT_TYPE })
  const signed = sign({ target: TARGET, body: '{}', credentials: by, nowMs })
  const pairs = Array.from({ length: signed.length / 2 }, (_, i) => [signed[2 * i], signed[2 * i + 1]])
  const all = { ...Object.fromEntries(pairs), ...headers } as Record<string, string>
  const response = await fetch(`${database.endpoint}${path}`, { method: 'POST', body: body ?? '{}', headers: all })
  const answer = (await response.json()) as { __type?: string }
  return { status: response.status, type: answer.__type?.split('#')[1], answer }
}

test('who has the password is let in, over our client’s signatures and the SDK’s', async () => {
  expect(await call()).toMatchObject({ status: 200, answer: { TableNames: [] } })
  const client = sdkClient(database)
  expect(await client.send(new ListTablesCommand({}))).toMatchObject({ TableNames: [] })
  client.destroy()
})

test.each<[string, Change, string]>([
  ['no signature', { headers: { Authorization: '' } }, 'MissingAuthenticationTokenException'],
  ['a signature that is none', { headers: { Authorization: 'Bearer x' } }, 'UnrecognizedClientException'],
  ['another access key', { by: { ...credentials, accessKeyId: 'local' } }, 'UnrecognizedClientException'],
  ['another secret', { by: { ...credentials, secretAccessKey: 'local' } }, 'InvalidSignatureException'],
  ['another body than was signed', { body: '{"Limit":1}' }, 'InvalidSignatureException'],
  ['another operation than was signed', { headers: { 'X-Amz-Target': DELETE } }, 'InvalidSignatureException'],
  ['a signature of six minutes ago', { nowMs: Date.now() - 6 * 60_000 }, 'InvalidSignatureException'],
  ['a signature of the future', { nowMs: Date.now() + 6 * 60_000 }, 'InvalidSignatureException'],
])('%s is refused', async (_, change, type) => {
  expect(await call(change)).toMatchObject({ status: 400, type })
})

test('a refusal tells nothing of the data, and not the password', async () => {
  const client = sdkClient({ ...database, credentials: { ...credentials, secretAccessKey: 'guessed' } })
  const get = new GetItemCommand({ TableName: 'keys', Key: { pk: { S: 'p' } } })
  const error = await client.send(get).catch((thrown: Error) => thrown)
  expect(error).toMatchObject({ name: 'InvalidSignatureException' })
  expect(JSON.stringify(error)).not.toContain(credentials.secretAccessKey)
  client.destroy()
})
