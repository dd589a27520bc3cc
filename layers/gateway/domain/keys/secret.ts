import { hash, timingSafeEqual } from 'node:crypto'

export function hashSecret(secret: string): string {
  return hash('sha256', secret)
}

export function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
