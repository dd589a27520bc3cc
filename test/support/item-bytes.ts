import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { itemBytes as bytesOf, type Item } from '../../local/dynamodb/value.ts'

export type RawItem = Readonly<Record<string, AttributeValue>>

export function itemBytes(item: RawItem): number {
  return bytesOf(unmarshall(item) as Item)
}
