import { json } from 'node:stream/consumers'
import { type Started, startServer } from './start-server.ts'

export type SecretsManager = Started & {
  /** The name of every secret that was asked for. */
  readonly asked: string[]
}

/** As much of AWS Secrets Manager as a function calls. */
export async function startSecretsManager(secrets: Readonly<Record<string, string>>): Promise<SecretsManager> {
  const asked: string[] = []
  const server = await startServer(async (request, response) => {
    const { SecretId } = (await json(request)) as { SecretId: string }
    asked.push(SecretId)
    const SecretString = secrets[SecretId]
    response.writeHead(SecretString === undefined ? 400 : 200, { 'Content-Type': 'application/x-amz-json-1.1' })
    const missing = { __type: 'ResourceNotFoundException', message: 'not found' }
    response.end(JSON.stringify(SecretString === undefined ? missing : { Name: SecretId, SecretString }))
  })
  return { ...server, asked }
}

/** A provider's key as a secret, for the host of this address. */
export function secretFor(baseUrl: string, key: string): string {
  return JSON.stringify({ key, hosts: [new URL(baseUrl).host] })
}
