import { validationError } from './failures.ts'
import { isNumeric, significantDigits } from './number.ts'
import { type Item, isSet, type Value } from './value.ts'

// The size of an item by the Amazon DynamoDB Developer Guide: "DynamoDB item sizes and formats" (CapacityUnitCalculations).

const MOST_ITEM_BYTES = 400 * 1024

export function ofAllowedSize(item: Item, what: string): Item {
  if (itemBytes(item) <= MOST_ITEM_BYTES) return item
  throw validationError(`${what} has exceeded the maximum allowed size`)
}

/** "The total size of an item is the sum of the lengths of its attribute names and values." */
export function itemBytes(item: Item): number {
  let bytes = 0
  for (const name in item) bytes += Buffer.byteLength(name) + valueBytes(item[name] as Value)
  return bytes
}

function valueBytes(value: Value): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  // "Approximately 1 byte per two significant digits, and 1 byte"; zeroes at either end do not count, a minus does.
  if (isNumeric(value)) return Math.ceil(significantDigits(value) / 2) + 1 + (value < 0 ? 1 : 0)
  if (value === null || typeof value === 'boolean') return 1
  if (value instanceof Uint8Array) return value.length
  if (isSet(value)) return sumOf(value)
  // "An attribute of type List or Map requires 3 bytes of overhead", and "each List or Map element also 1 byte".
  if (Array.isArray(value)) return 3 + sumOf(value as readonly Value[]) + value.length
  return 3 + itemBytes(value as Item) + Object.keys(value).length
}

function sumOf(values: Iterable<Value>): number {
  let total = 0
  for (const value of values) total += valueBytes(value)
  return total
}
