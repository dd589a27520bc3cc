import { unsupported, validationError } from './failures.ts'

/** An integer of up to 38 digits: a bigint only if it is no safe JS number, so that equal ones are `===`. */
export type Numeric = number | bigint

const MOST_DIGITS = 38
const SHORT_INTEGER = /^-?\d{1,15}$/
const INTEGER = /^-?\d+$/

export function isNumeric(value: unknown): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint'
}

export function parseNumeric(text: string): Numeric {
  if (SHORT_INTEGER.test(text)) return Number(text) + 0
  if (INTEGER.test(text)) return exact(BigInt(text))
  if (text.trim() !== '' && Number.isFinite(Number(text))) throw unsupported('numbers that are no integers')
  throw validationError(`The parameter cannot be converted to a numeric value: ${text.slice(0, 60)}`)
}

export function sum(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'number' && typeof b === 'number') {
    const result = a + b
    if (Number.isSafeInteger(result)) return result
  }
  return exact(BigInt(a) + BigInt(b))
}

export function negated(value: Numeric): Numeric {
  return typeof value === 'number' ? 0 - value : -value
}

/** The number of digits, without zeroes at the end. */
export function significantDigits(value: Numeric): number {
  return String(value).replace(/^-?0*|0+$/g, '').length
}

function exact(integer: bigint): Numeric {
  if (significantDigits(integer) > MOST_DIGITS) {
    throw validationError('Attempting to store more than 38 significant digits in a Number')
  }
  return integer >= Number.MIN_SAFE_INTEGER && integer <= Number.MAX_SAFE_INTEGER ? Number(integer) : integer
}
