import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { itemBytes as bytesOf } from '../../local/dynamodb/values.ts'
import { itemFromDocument } from '../simulation/dynamodb/documents.ts'

export type RawItem = Readonly<Record<string, AttributeValue>>

export function itemBytes(item: RawItem): number {
  return bytesOf(itemFromDocument(unmarshall(item)))
}
