import { hash, timingSafeEqual } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 32 bytes need 42.99 digits of base62; shorter ones are padded, so every secret has one length. */
const SECRET_LENGTH = 43

export function makeSecret(prefix: string, random: Uint8Array): string {
  if (random.length !== 32) throw new Error('A secret is made of 32 random bytes.')
  let value = BigInt(`0x${Buffer.from(random).toString('hex')}`)
  let text = ''
  while (value > 0n) {
    text = BASE62[Number(value % 62n)] + text
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

export function hashSecret(secret: string): string {
  return hash('sha256', secret)
}

export function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
