import { readUlid, requestIdOf, timeMsIn, writeUlid } from '../../domain/basics/ulid.ts'
import type { Hold } from '../../domain/keys/key.ts'
import type { Nano } from '../../domain/money/money.ts'

// A key's item is written whole with every request, so each of its open holds takes some 20 bytes: the 16 of the
// request's id, one for the longest life of the request, counted from the time in its id, and the amount.

const ID_BYTES = 16
const LIFETIME_UNIT_MS = 8_000
const LONGEST_LIFETIME = 255
const [ZERO, LETTER_A] = [48, 97]

/** One element of the set of open holds. The same hold is always the same bytes, so that it can be found and removed. */
export function storedHold(requestId: string, { amount, untilMs }: Hold): Uint8Array {
  const id = readUlid(requestId)
  const units = Math.ceil((untilMs - timeMsIn(id)) / LIFETIME_UNIT_MS)
  const digits = amount === 0n ? '' : amount.toString(16)
  const amountBytes = (digits.length + 1) >> 1
  const stored = new Uint8Array(ID_BYTES + 1 + amountBytes)
  stored.set(id)
  stored[ID_BYTES] = Math.min(LONGEST_LIFETIME, Math.max(0, units))
  // The amount in as few bytes as it takes, none for zero.
  for (let i = 1, at = digits.length; i <= amountBytes; i++, at -= 2) {
    stored[stored.length - i] = hexDigit(digits, at - 2) * 16 + hexDigit(digits, at - 1)
  }
  return stored
}

/** Zero beyond the digits. */
function hexDigit(digits: string, at: number): number {
  if (at < 0) return 0
  const code = digits.charCodeAt(at)
  return code < LETTER_A ? code - ZERO : code - LETTER_A + 10
}

export function readStoredHold(bytes: Uint8Array): { readonly requestId: string; readonly hold: Hold } {
  const amount = amountIn(bytes.subarray(ID_BYTES + 1))
  return { requestId: requestIdOf(writeUlid(bytes)), hold: { amount, untilMs: endOf(bytes) } }
}

/** The time from which the request of a stored hold is dead. */
export function endOf(bytes: Uint8Array): number {
  return timeMsIn(bytes) + (bytes[ID_BYTES] as number) * LIFETIME_UNIT_MS
}

function amountIn(bytes: Uint8Array): Nano {
  let amount = 0n
  for (const byte of bytes) amount = (amount << 8n) | BigInt(byte)
  return amount
}
