import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export type SecretsManager = AsyncDisposable & {
  readonly endpoint: string
  /** The name of every secret that was asked for. */
  readonly asked: string[]
}

/** As much of AWS Secrets Manager as a function calls. */
export async function startSecretsManager(secrets: Readonly<Record<string, string>>): Promise<SecretsManager> {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const { SecretId } = (await json(request)) as { SecretId: string }
    asked.push(SecretId)
    const SecretString = secrets[SecretId]
    response.writeHead(SecretString === undefined ? 400 : 200, { 'Content-Type': 'application/x-amz-json-1.1' })
    const missing = { __type: 'ResourceNotFoundException', message: 'not found' }
    response.end(JSON.stringify(SecretString === undefined ? missing : { Name: SecretId, SecretString }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A provider's key as a secret, for the host of this address. */
export function secretFor(baseUrl: string, key: string): string {
  return JSON.stringify({ key, hosts: [new URL(baseUrl).host] })
}
