import type { StoredItem } from './ledger.ts'

// The gateway's own code is not asked how a hold is stored: a mistake in it would look right to both.

export const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ID_BYTES = 16
const TIME_CHARS = 10

/** The credits that each open request holds: 16 bytes of its id, one of its lifetime, the rest is the amount. */
export function openHolds({ openHolds: stored }: StoredItem): Map<string, bigint> {
  const bytes = [...((stored as Set<Uint8Array> | undefined) ?? [])]
  return new Map(bytes.map((hold) => [requestIdIn(hold), numberIn(hold.subarray(ID_BYTES + 1))]))
}

export function requestIdIn(hold: Uint8Array): string {
  let [id, rest] = ['', numberIn(hold.subarray(0, ID_BYTES))]
  for (let i = 0; i < 26; i++, rest >>= 5n) id = DIGITS[Number(rest & 31n)] + id
  return `req_${id}`
}

function numberIn(bytes: Uint8Array): bigint {
  return BigInt(`0x0${Buffer.from(bytes).toString('hex')}`)
}

/** The moment in a request's id. */
export function momentOf(requestId: string): number {
  const time = requestId.slice('req_'.length, 'req_'.length + TIME_CHARS)
  return [...time].reduce((ms, digit) => ms * 32 + DIGITS.indexOf(digit), 0)
}
