const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** 48 bits of time and 80 bits of chance, sortable by time. */
export function ulid(nowMs: number, random: Uint8Array): string {
  let value = BigInt(nowMs)
  for (let i = 0; i < 10; i++) value = (value << 8n) | BigInt(random[i] ?? 0)
  let text = ''
  for (let i = 0; i < 26; i++) {
    text = CROCKFORD[Number(value & 31n)] + text
    value >>= 5n
  }
  return text
}

/** The moment in an id that ends in a ULID. */
export function ulidTimeMs(id: string): number {
  const time = id.slice(-26, -16)
  return [...time].reduce((value, digit) => value * 32 + CROCKFORD.indexOf(digit), 0)
}

export function makeRequestId(nowMs: number, random: Uint8Array): string {
  return `req_${ulid(nowMs, random)}`
}
