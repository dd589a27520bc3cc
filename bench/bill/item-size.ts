import type { AttributeValue } from '@aws-sdk/client-dynamodb'

// The size of an item and what it costs, by the Amazon DynamoDB Developer Guide: "DynamoDB item sizes and formats"
// (CapacityUnitCalculations) for sizes, "DynamoDB read and write operations" (read-write-operations) for units.

export type RawItem = Readonly<Record<string, AttributeValue>>

const WRITE_UNIT_BYTES = 1_024

/** What every item takes in storage beside its own bytes. */
export const STORAGE_OVERHEAD_BYTES = 100

/** "The total size of an item is the sum of the lengths of its attribute names and values." */
export function itemBytes(item: RawItem): number {
  return sum(Object.entries(item).map(([name, value]) => utf8Bytes(name) + valueBytes(value)))
}

/** One for each KB or part of one. An update is charged for the whole item, before or after, whichever is larger. */
export function writeUnits(bytes: number): number {
  return Math.ceil(bytes / WRITE_UNIT_BYTES)
}

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return utf8Bytes(value.S)
  if (value.N !== undefined) return numberBytes(value.N)
  if (value.B !== undefined) return value.B.length
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1
  // "An attribute of type List or Map requires 3 bytes of overhead", and "each List or Map element also 1 byte".
  if (value.L !== undefined) return 3 + sum(value.L.map((element) => 1 + valueBytes(element)))
  if (value.M !== undefined) return 3 + itemBytes(value.M) + Object.keys(value.M).length
  if (value.SS !== undefined) return sum(value.SS.map(utf8Bytes))
  if (value.NS !== undefined) return sum(value.NS.map(numberBytes))
  if (value.BS !== undefined) return sum(value.BS.map(({ length }) => length))
  throw new Error('A value of an unknown type has no size.')
}

/** "Approximately 1 byte per two significant digits, and 1 byte"; zeroes at either end do not count, a minus does. */
function numberBytes(text: string): number {
  const [mantissa = ''] = text.replace('-', '').split(/e/i)
  const digits = mantissa.replace('.', '').replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '').length
  return Math.ceil(significant / 2) + 1 + (text.startsWith('-') ? 1 : 0)
}

function utf8Bytes(text: string): number {
  return Buffer.byteLength(text)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
