import { openService } from '../../platform/aws/service.ts'

/** The value of a secret; undefined if there is none by that name. All tries together end within `timeoutMs`. */
export type FetchSecret = (SecretId: string, timeoutMs?: number) => Promise<string | undefined>

export function secretFetcher(): FetchSecret {
  const secretsManager = openService({
    name: 'secretsmanager',
    variable: 'SECRETS_MANAGER',
    target: 'secretsmanager',
    timeouts: { connectMs: 1_000, answerMs: 3_000 },
  })
  return async (SecretId, timeoutMs = 5_000) => {
    const options = { attempts: 2, signal: AbortSignal.timeout(timeoutMs) }
    try {
      const { SecretString } = await secretsManager('GetSecretValue', JSON.stringify({ SecretId }), options)
      return (typeof SecretString === 'string' && SecretString.trim()) || undefined
    } catch (error) {
      if (isDeleted(error as Error)) return undefined
      throw error
    }
  }
}

/** A secret that can still be restored is deleted too, but Secrets Manager reports it by another error. */
function isDeleted({ name, message }: Error): boolean {
  if (name === 'ResourceNotFoundException') return true
  return name === 'InvalidRequestException' && message.includes('marked for deletion')
}
