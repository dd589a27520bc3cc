import { isNumeric, type Numeric, significantDigits } from './number.ts'
import { type Element, type Item, isSet, type Value } from './value.ts'

// The size of an item by the Amazon DynamoDB Developer Guide: "DynamoDB item sizes and formats" (CapacityUnitCalculations).

/** "The total size of an item is the sum of the lengths of its attribute names and values." */
export function itemBytes(item: Item): number {
  let bytes = 0
  for (const name in item) bytes += textBytes(name) + valueBytes(item[name] as Value)
  return bytes
}

function valueBytes(value: Value): number {
  if (typeof value === 'string') return textBytes(value)
  if (isNumeric(value)) return numberBytes(value)
  if (value === null || typeof value === 'boolean') return 1
  if (value instanceof Uint8Array) return value.length
  if (isSet(value)) return sumOf(value as Iterable<Element>, valueBytes)
  // "An attribute of type List or Map requires 3 bytes of overhead", and "each List or Map element also 1 byte".
  if (Array.isArray(value)) return 3 + sumOf(value as readonly Value[], (element) => 1 + valueBytes(element))
  return 3 + itemBytes(value as Item) + Object.keys(value).length
}

/** "Approximately 1 byte per two significant digits, and 1 byte"; zeroes at either end do not count, a minus does. */
function numberBytes(value: Numeric): number {
  const isNegative = typeof value === 'object' ? value.digits < 0n : value < 0
  return Math.ceil(significantDigits(value) / 2) + 1 + (isNegative ? 1 : 0)
}

function textBytes(text: string): number {
  return Buffer.byteLength(text)
}

function sumOf<T>(values: Iterable<T>, bytesOf: (value: T) => number): number {
  let total = 0
  for (const value of values) total += bytesOf(value)
  return total
}
