import { makeSecret } from '../layers/gateway/domain/keys/secret-text.ts'

export type NewSecret = Awaited<ReturnType<typeof newSecret>>

/** The new secret of a key. It never leaves the page: the server is told its hash and its last four characters. */
export async function newSecret(prefix: string) {
  const secret = makeSecret(prefix, crypto.getRandomValues(new Uint8Array(32)))
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))
  const hex = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { secret, told: { secret_sha256: hex, last_four: secret.slice(-4) } }
}
