// The rules of layers/gateway/domain/secret.ts, by which the gateway makes and recognises secrets; test/console
// compares the two.

export const KEY_PREFIX = 'svc_live_'
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 43

/** The new secret of a key. It never leaves the page: the server gets its hash and its last four characters. */
export type NewSecret = {
  readonly secret: string
  readonly told: { readonly secret_sha256: string; readonly last_four: string }
}

export async function newSecret(prefix: string): Promise<NewSecret> {
  const secret = secretOf(prefix, crypto.getRandomValues(new Uint8Array(32)))
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))
  return { secret, told: { secret_sha256: hex(new Uint8Array(hash)), last_four: secret.slice(-4) } }
}

export function secretOf(prefix: string, random: Uint8Array): string {
  let value = BigInt(`0x${hex(random)}`)
  let text = ''
  while (value > 0n) {
    text = BASE62.charAt(Number(value % 62n)) + text
    value /= 62n
  }
  return prefix + text.padStart(SECRET_LENGTH, '0')
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
