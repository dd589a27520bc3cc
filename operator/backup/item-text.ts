import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { JsonObject } from '../../layers/gateway/domain/json-object.ts'

/** An item in DynamoDB's own form: numbers are texts, so that none is rounded. */
export type RawItem = Record<string, AttributeValue>

/** In JSON, with bytes in base64, as DynamoDB's own JSON has them. */
export function toJson(item: RawItem): JsonObject {
  return mapValues(item, (value) => valueToJson(value as unknown as JsonObject))
}

export function fromJson(json: JsonObject): RawItem {
  return mapValues(json, (value) => valueFromJson(value as JsonObject)) as unknown as RawItem
}

const base64 = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString('base64')
const bytesOf = (text: unknown) => new Uint8Array(Buffer.from(text as string, 'base64'))

function valueToJson(value: JsonObject): JsonObject {
  if ('B' in value) return { B: base64(value.B) }
  if ('BS' in value) return { BS: (value.BS as Uint8Array[]).map(base64).sort() }
  if ('SS' in value) return { SS: (value.SS as string[]).toSorted() }
  if ('NS' in value) return { NS: (value.NS as string[]).toSorted() }
  return inside(value, valueToJson)
}

function valueFromJson(value: JsonObject): JsonObject {
  if ('B' in value) return { B: bytesOf(value.B) }
  if ('BS' in value) return { BS: (value.BS as string[]).map(bytesOf) }
  return inside(value, valueFromJson)
}

/** A list or a map has values inside; every other kind is a plain text or boolean. */
function inside(value: JsonObject, change: (value: JsonObject) => JsonObject): JsonObject {
  if ('L' in value) return { L: (value.L as JsonObject[]).map(change) }
  if ('M' in value) return { M: mapValues(value.M as JsonObject, (it) => change(it as JsonObject)) }
  return value
}

function mapValues(record: object, change: (value: unknown) => JsonObject): JsonObject {
  // Sorted, as the sets are, so that two texts of one item are the same.
  const names = Object.keys(record).sort()
  return Object.fromEntries(names.map((name) => [name, change((record as JsonObject)[name])]))
}
