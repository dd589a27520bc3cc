import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'

const CONNECTION_TIMEOUT_MS = 1_000
const REQUEST_TIMEOUT_MS = 3_000
const LOOK_UP_TIMEOUT_MS = 5_000

/** The value of a secret; undefined if there is none by that name. Ends within `timeoutMs`, whatever the SDK does. */
export async function fetchSecret(SecretId: string, timeoutMs = LOOK_UP_TIMEOUT_MS): Promise<string | undefined> {
  const ended = new AbortController()
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new Error(`Secrets Manager did not answer within ${timeoutMs} ms.`)
    reject(Object.assign(error, { name: 'TimeoutError' }))
    ended.abort()
  }, timeoutMs)
  try {
    return await Promise.race([ask(SecretId, ended.signal), timeout])
  } finally {
    clearTimeout(timer)
  }
}

async function ask(SecretId: string, abortSignal: AbortSignal): Promise<string | undefined> {
  const { GetSecretValueCommand } = await sdk()
  try {
    const { SecretString } = await (await openClient()).send(new GetSecretValueCommand({ SecretId }), { abortSignal })
    return SecretString?.trim() || undefined
  } catch (error) {
    if (isDeleted(error as Error)) return undefined
    throw error
  }
}

/** A secret that can still be restored is deleted too, but Secrets Manager has another error for it. */
function isDeleted({ name, message }: Error): boolean {
  if (name === 'ResourceNotFoundException') return true
  return name === 'InvalidRequestException' && message.includes('marked for deletion')
}

/** Loaded with the first secret that is asked for: most requests of a cold function need none. */
const sdk = () => import('@aws-sdk/client-secrets-manager')

let client: Promise<SecretsManagerClient> | undefined

/** One for the process, so that its connection is used again. */
function openClient(): Promise<SecretsManagerClient> {
  client ??= sdk().then(
    (loaded) =>
      new loaded.SecretsManagerClient({
        maxAttempts: 2,
        requestHandler: {
          connectionTimeout: CONNECTION_TIMEOUT_MS,
          requestTimeout: REQUEST_TIMEOUT_MS,
          throwOnRequestTimeout: true,
        },
      }),
  )
  return client
}
