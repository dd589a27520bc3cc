import { unsupported, validationError } from './failures.ts'

/**
 * A number as the SDK hands it out: a JS number where that is exact, a bigint beyond 2^53. One number has one form only,
 * so equal numbers are `===`. Fractions can be stored and compared, not computed with.
 */
export type Numeric = number | bigint

const DIGITS = 38
const TOO_MANY_DIGITS_FROM = 10n ** 38n
const SMALLEST = 1e-130

export function toNumeric(value: number | bigint): Numeric {
  if (typeof value === 'bigint') return ofBigint(value)
  if (Number.isSafeInteger(value)) return value + 0
  // What the SDK itself refuses to send.
  if (!Number.isFinite(value)) throw new Error(`Special numeric value ${value} is not allowed`)
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new Error(`Number ${value} is not a safe integer.`)
  if (Math.abs(value) < SMALLEST) throw validationError('Number underflow')
  return value
}

export function isNumeric(value: unknown): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint'
}

export function sum(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'number' && typeof b === 'number') {
    const result = a + b
    if (Number.isSafeInteger(result) && Number.isInteger(a) && Number.isInteger(b)) return result
  }
  return ofBigint(whole(a) + whole(b))
}

export function difference(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'number' && typeof b === 'number') {
    const result = a - b
    if (Number.isSafeInteger(result) && Number.isInteger(a) && Number.isInteger(b)) return result
  }
  return ofBigint(whole(a) - whole(b))
}

function whole(value: Numeric): bigint {
  if (typeof value === 'number' && !Number.isInteger(value)) throw unsupported(`arithmetic with fractions (${value})`)
  return BigInt(value)
}

function ofBigint(value: bigint): Numeric {
  const size = value < 0n ? -value : value
  if (size <= Number.MAX_SAFE_INTEGER) return Number(value)
  if (size >= TOO_MANY_DIGITS_FROM && size.toString().replace(/0+$/, '').length > DIGITS) {
    throw validationError('DynamoDB only supports precision up to 38 digits')
  }
  return value
}
