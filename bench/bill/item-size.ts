import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { itemBytes as bytesOf } from '../../local/dynamodb/item-bytes.ts'
import type { Item } from '../../local/dynamodb/value.ts'

// The cost of an item, by the Amazon DynamoDB Developer Guide: "DynamoDB read and write operations"
// (read-write-operations).

export type RawItem = Readonly<Record<string, AttributeValue>>

const WRITE_UNIT_BYTES = 1_024

export function itemBytes(item: RawItem): number {
  return bytesOf(unmarshall(item) as Item)
}

/** One for each KB or part of one. An update is charged for the whole item, before or after, whichever is larger. */
export function writeUnits(bytes: number): number {
  return Math.ceil(bytes / WRITE_UNIT_BYTES)
}
