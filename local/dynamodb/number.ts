import { validationError } from './failures.ts'

/**
 * A number of DynamoDB: up to 38 digits, exact. One number has one form only: a JS number if it is a safe integer, a
 * bigint if it is a larger one, a Decimal if it is no integer. So equal integers are `===`.
 */
export type Numeric = number | bigint | Decimal

/** `digits` / 10^`scale`, with a scale above zero and no zero at the end of the digits. */
export class Decimal {
  readonly digits: bigint
  readonly scale: number

  constructor(digits: bigint, scale: number) {
    this.digits = digits
    this.scale = scale
  }
}

type Parts = { readonly digits: bigint; readonly scale: number }

const MOST_DIGITS = 38
const HIGHEST_POWER = 125
const LOWEST_POWER = -130
const SHORT_INTEGER = /^-?\d{1,15}$/
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/

export function isNumeric(value: unknown): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Decimal
}

export function parseNumeric(text: string): Numeric {
  if (SHORT_INTEGER.test(text)) return Number(text) + 0
  const [, sign, whole = '', fraction = '', power = '0'] = NUMBER.exec(text) ?? []
  if (whole === '' && fraction === '') {
    throw validationError(`The parameter cannot be converted to a numeric value: ${text.slice(0, 60)}`)
  }
  if (whole.length + fraction.length > 400) throw tooManyDigits()
  const digits = BigInt(whole + fraction)
  return fromParts({ digits: sign === '-' ? -digits : digits, scale: fraction.length - Number(power) })
}

export function textOfNumeric(value: Numeric): string {
  if (!(value instanceof Decimal)) return String(value)
  const { digits, scale } = value
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0')
  return `${digits < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

export function sum(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'number' && typeof b === 'number') {
    const result = a + b
    if (Number.isSafeInteger(result)) return result
  }
  const [left, right, scale] = aligned(a, b)
  return fromParts({ digits: left + right, scale })
}

export function negated(value: Numeric): Numeric {
  if (value instanceof Decimal) return new Decimal(-value.digits, value.scale)
  return typeof value === 'number' ? 0 - value : -value
}

export function compareNumeric(a: Numeric, b: Numeric): number {
  const [left, right] = a instanceof Decimal || b instanceof Decimal ? aligned(a, b) : [a, b]
  return left < right ? -1 : left > right ? 1 : 0
}

/** The number of digits without zeroes at either end. */
export function significantDigits(value: Numeric): number {
  return textOfNumeric(value)
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '').length
}

function aligned(a: Numeric, b: Numeric): [bigint, bigint, number] {
  const [left, right] = [partsOf(a), partsOf(b)]
  const scale = Math.max(left.scale, right.scale)
  return [left.digits * 10n ** BigInt(scale - left.scale), right.digits * 10n ** BigInt(scale - right.scale), scale]
}

function partsOf(value: Numeric): Parts {
  return value instanceof Decimal ? value : { digits: BigInt(value), scale: 0 }
}

function fromParts(given: Parts): Numeric {
  const [, sign = '', shown = '', zeroes = ''] = /^(-?)(\d*?)(0*)$/.exec(String(given.digits)) ?? []
  if (shown === '') return 0
  const [digits, scale, length] = [BigInt(sign + shown), given.scale - zeroes.length, shown.length]
  const power = length - 1 - scale
  if (power > HIGHEST_POWER)
    throw validationError('Number overflow. Attempting to store a number with magnitude larger than supported range')
  if (power < LOWEST_POWER)
    throw validationError('Number underflow. Attempting to store a number with magnitude smaller than supported range')
  if (length > MOST_DIGITS) throw tooManyDigits()
  if (scale > 0) return new Decimal(digits, scale)
  const integer = digits * 10n ** BigInt(-scale)
  return integer >= Number.MIN_SAFE_INTEGER && integer <= Number.MAX_SAFE_INTEGER ? Number(integer) : integer
}

function tooManyDigits() {
  return validationError('Attempting to store more than 38 significant digits in a Number')
}
