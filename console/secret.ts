import { makeSecret } from '../layers/gateway/domain/keys/secret-text.ts'

/** The new secret of a key. It never leaves the page: the server gets its hash and its last four characters. */
export type NewSecret = {
  readonly secret: string
  readonly told: { readonly secret_sha256: string; readonly last_four: string }
}

export async function newSecret(prefix: string): Promise<NewSecret> {
  const secret = makeSecret(prefix, crypto.getRandomValues(new Uint8Array(32)))
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))
  return { secret, told: { secret_sha256: hex(new Uint8Array(hash)), last_four: secret.slice(-4) } }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
