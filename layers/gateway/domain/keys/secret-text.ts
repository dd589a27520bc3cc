// No module of Node is imported here, because the console makes secrets, too.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 32 bytes need 42.99 digits of base62; shorter ones are padded, so every secret has one length. */
const SECRET_LENGTH = 43

export function makeSecret(prefix: string, random: Uint8Array): string {
  if (random.length !== 32) throw new Error('A secret is made of 32 random bytes.')
  let value = random.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n)
  let text = ''
  while (value > 0n) {
    text = BASE62.charAt(Number(value % 62n)) + text
    value /= 62n
  }
  return prefix + text.padStart(SECRET_LENGTH, '0')
}

export function isSecret(prefix: string, text: string): boolean {
  return (
    text.length === prefix.length + SECRET_LENGTH &&
    text.startsWith(prefix) &&
    /^[0-9A-Za-z]+$/.test(text.slice(prefix.length))
  )
}

/** The shapes of keys that people paste in the wrong place, and that providers quote in their errors. */
export function keyShapes(): RegExp {
  return /\b(?:(?:sk|pk|gsk|csk|xai|nvapi|pplx|svc_live)[-_][\w*-]{6,}|AIza[\w*-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{12,})/g
}
