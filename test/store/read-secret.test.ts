import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { secretName } from '../../layers/gateway/contract.ts'
import { readSecret } from '../../layers/gateway/store/read-secret.ts'

let server: Server
let asked: string[] = []
let stored: Record<string, string> = {}
let nowMs = 0

/** Secrets Manager as far as GetSecretValue goes. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { SecretId } = JSON.parse(await text(request)) as { SecretId: string }
    asked.push(SecretId)
    const found = stored[SecretId]
    response.writeHead(found === undefined ? 400 : 200, { 'Content-Type': 'application/x-amz-json-1.1' })
    response.end(
      JSON.stringify(found === undefined ? { __type: 'ResourceNotFoundException' } : { SecretString: found }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })
})
beforeEach(() => {
  asked = []
  stored = { 'waybill/dev/openai': 'sk-one\n' }
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const open = () =>
  readSecret(
    (name) => secretName('dev', name),
    () => nowMs,
  )

describe('a provider’s key in Secrets Manager', () => {
  test('is read by its stage and name, without the line end that a shell leaves', async () => {
    expect(await open()('openai')).toBe('sk-one')
    expect(asked).toEqual(['waybill/dev/openai'])
  })

  test('is asked for once in five minutes, and a new one is in use then', async () => {
    const read = open()
    await read('openai')
    stored = { 'waybill/dev/openai': 'sk-two' }
    nowMs += 5 * 60_000 - 1
    expect(await read('openai')).toBe('sk-one')
    nowMs += 1
    expect(await read('openai')).toBe('sk-two')
    expect(asked).toHaveLength(2)
  })

  test('that does not exist is undefined, and is found as soon as it does', async () => {
    const read = open()
    expect(await read('mistral')).toBeUndefined()
    stored = { 'waybill/dev/mistral': 'ms-1' }
    expect(await read('mistral')).toBe('ms-1')
  })
})
