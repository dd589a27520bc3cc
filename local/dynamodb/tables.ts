import { DynamoDbError, unsupported, validationError } from './failures.ts'
import { keyNames, type Schema, type TableSchema } from './keys.ts'
import type { Members } from './members.ts'
import type { Storage, Table } from './storage.ts'

type KeyElement = { readonly AttributeName: string; readonly KeyType: string }
type IndexInput = {
  readonly IndexName: string
  readonly KeySchema: readonly KeyElement[]
  readonly Projection?: { readonly ProjectionType?: string }
}

export function executeOnTables(storage: Storage, operation: string, input: Members): Members {
  const name = String(input.TableName)
  if (operation === 'CreateTable') {
    if (storage.tables.has(name)) throw new DynamoDbError('ResourceInUseException', `Table already exists: ${name}`)
    return { TableDescription: describe(storage.keep(name, schemaOf(input))) }
  }
  if (operation === 'DescribeTable') return { Table: describe(storage.get(name)) }
  if (operation === 'ListTables') return { TableNames: [...storage.tables.keys()].sort() }
  if (operation === 'UpdateTimeToLive') {
    const { AttributeName, Enabled } = input.TimeToLiveSpecification as Members
    if (typeof AttributeName !== 'string')
      throw validationError('TimeToLiveSpecification takes AttributeName and Enabled')
    storage.keep(name, { ...storage.get(name).schema, timeToLive: Enabled ? AttributeName : undefined })
    return { TimeToLiveSpecification: { AttributeName, Enabled } }
  }
  if (operation === 'DescribeTimeToLive') {
    const { timeToLive: AttributeName } = storage.get(name).schema
    return { TimeToLiveDescription: { TimeToLiveStatus: AttributeName ? 'ENABLED' : 'DISABLED', AttributeName } }
  }
  // To ask for backups is no fault of the caller, who asks it of a table in AWS.
  if (/^[A-Z]\w{1,60}$/.test(operation) && operation !== 'DescribeContinuousBackups') throw unsupported(operation)
  throw new DynamoDbError('UnknownOperationException', 'There is no such operation here')
}

/** The table that CreateTable asks for. Keys are texts here. */
function schemaOf(input: Members): TableSchema {
  if (!/^[\w.-]{3,255}$/.test(String(input.TableName))) {
    throw validationError('TableName must be 3 to 255 characters long, of letters, digits, and _ - .')
  }
  if (input.LocalSecondaryIndexes) throw unsupported('LocalSecondaryIndexes')
  const attributes = (input.AttributeDefinitions ?? []) as readonly { readonly AttributeType: string }[]
  if (attributes.some(({ AttributeType }) => AttributeType !== 'S')) throw unsupported('keys of any type but S')
  const indexes = (input.GlobalSecondaryIndexes ?? []) as readonly IndexInput[]
  return {
    ...keysIn(input.KeySchema as readonly KeyElement[]),
    indexes: indexes.map(({ IndexName, KeySchema, Projection }) => {
      const type = Projection?.ProjectionType
      if (type !== 'ALL' && type !== 'KEYS_ONLY') throw unsupported(`the ProjectionType ${type}`)
      return { ...keysIn(KeySchema), name: IndexName, projection: type === 'ALL' ? 'all' : 'keys' }
    }),
  }
}

const KEY_TYPES = ['HASH', 'RANGE']

function keysIn(elements: readonly KeyElement[] = []): Schema {
  const nameOf = (type: string | undefined) => elements.find(({ KeyType }) => KeyType === type)?.AttributeName
  const [partitionKey, sortKey] = KEY_TYPES.map(nameOf)
  if (!partitionKey) throw validationError('A KeySchema has no element of the type HASH')
  return { partitionKey, ...(sortKey && { sortKey }) }
}

function describe({ name, schema, own }: Table): Members {
  const names = new Set([schema, ...schema.indexes].flatMap(keyNames))
  return {
    TableName: name,
    TableStatus: 'ACTIVE',
    ItemCount: [...own.entries.range()].length,
    KeySchema: keySchema(schema),
    AttributeDefinitions: Array.from(names, (AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    GlobalSecondaryIndexes: schema.indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: keySchema(index),
      Projection: { ProjectionType: index.projection === 'all' ? 'ALL' : 'KEYS_ONLY' },
    })),
  }
}

function keySchema(schema: Schema): KeyElement[] {
  return keyNames(schema).map((AttributeName, i) => ({ AttributeName, KeyType: KEY_TYPES[i] as string }))
}
