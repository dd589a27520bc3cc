import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { writeAttributes } from '../../layers/gateway/store/dynamodb/attribute-values.ts'
import { itemBytes as bytesOf } from '../../local/dynamodb/values.ts'

export type RawItem = Readonly<Record<string, AttributeValue>>

export function itemBytes(item: RawItem): number {
  return bytesOf(JSON.parse(writeAttributes(unmarshall(item))))
}
