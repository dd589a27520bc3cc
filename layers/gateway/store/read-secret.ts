export type ReadSecret = (name: string) => Promise<string | undefined>

const KEPT_MS = 5 * 60_000

/**
 * A provider's key from Secrets Manager. The client is loaded with the first secret that is asked for, and a secret is
 * kept for five minutes, so that a new key is in use without a deployment.
 */
export function readSecret(fullName: (name: string) => string, clock: () => number): ReadSecret {
  const kept = new Map<string, { value: string; untilMs: number }>()
  return async (name) => {
    const known = kept.get(name)
    if (known && known.untilMs > clock()) return known.value
    const value = await fetchSecret(fullName(name))
    if (value) kept.set(name, { value, untilMs: clock() + KEPT_MS })
    return value
  }
}

async function fetchSecret(SecretId: string): Promise<string | undefined> {
  const { SecretsManagerClient, GetSecretValueCommand, ResourceNotFoundException } = await import(
    '@aws-sdk/client-secrets-manager'
  )
  try {
    const { SecretString } = await new SecretsManagerClient({}).send(new GetSecretValueCommand({ SecretId }))
    return SecretString?.trim() || undefined
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined
    throw error
  }
}
