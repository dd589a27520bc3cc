import { unsupported, validationError } from './failures.ts'
import type { Schema, StoredTable, TableSchema } from './stored-table.ts'

type Input = Readonly<Record<string, unknown>>
type KeyElement = { readonly AttributeName: string; readonly KeyType: string }
type IndexInput = {
  readonly IndexName: string
  readonly KeySchema: readonly KeyElement[]
  readonly Projection?: { readonly ProjectionType?: string }
}

const TABLE_NAME = /^[\w.-]{3,255}$/

/** The table that CreateTable asks for. Keys are texts here. */
export function schemaOf(input: Input): TableSchema {
  if (!TABLE_NAME.test(String(input.TableName))) {
    throw validationError('TableName must be 3 to 255 characters long, of letters, digits, and _ - .')
  }
  if (input.LocalSecondaryIndexes) throw unsupported('LocalSecondaryIndexes')
  const attributes = (input.AttributeDefinitions ?? []) as readonly { readonly AttributeType: string }[]
  if (attributes.some(({ AttributeType }) => AttributeType !== 'S')) throw unsupported('keys of any type but S')
  const indexes = (input.GlobalSecondaryIndexes ?? []) as readonly IndexInput[]
  return {
    ...keysOf(input.KeySchema as readonly KeyElement[]),
    indexes: indexes.map(({ IndexName, KeySchema, Projection }) => ({
      ...keysOf(KeySchema),
      name: IndexName,
      projection: projectionOf(Projection?.ProjectionType),
    })),
  }
}

function keysOf(elements: readonly KeyElement[] = []): Schema {
  const [partitionKey, sortKey] = ['HASH', 'RANGE'].map(
    (type) => elements.find(({ KeyType }) => KeyType === type)?.AttributeName,
  )
  if (!partitionKey) throw validationError('A KeySchema has no element of the type HASH')
  return { partitionKey, ...(sortKey && { sortKey }) }
}

const PROJECTIONS = { ALL: 'all', KEYS_ONLY: 'keys' } as const

function projectionOf(type: string | undefined): 'all' | 'keys' {
  if (type === 'ALL' || type === 'KEYS_ONLY') return PROJECTIONS[type]
  throw unsupported(`the ProjectionType ${type}`)
}

export function describeTable({ name, definition, partitions }: StoredTable) {
  const names = new Set(
    [definition, ...definition.indexes].flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey]),
  )
  let items = 0
  for (const { entries } of partitions.all()) items += entries.length
  return {
    TableName: name,
    TableStatus: 'ACTIVE',
    TableArn: `arn:aws:dynamodb:local:000000000000:table/${name}`,
    ItemCount: items,
    KeySchema: keySchema(definition),
    AttributeDefinitions: [...names].filter(Boolean).map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    ...(definition.indexes.length > 0 && {
      GlobalSecondaryIndexes: definition.indexes.map((index) => ({
        IndexName: index.name,
        IndexStatus: 'ACTIVE',
        KeySchema: keySchema(index),
        Projection: { ProjectionType: index.projection === 'all' ? 'ALL' : 'KEYS_ONLY' },
      })),
    }),
  }
}

function keySchema({ partitionKey, sortKey }: Schema): KeyElement[] {
  const first = { AttributeName: partitionKey, KeyType: 'HASH' }
  return sortKey ? [first, { AttributeName: sortKey, KeyType: 'RANGE' }] : [first]
}
