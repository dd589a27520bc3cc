import { DynamoDbError, unsupported, validationError } from './failures.ts'
import { keyNames } from './keys.ts'
import type { Members } from './members.ts'
import { type Schema, StoredTable, type TableSchema } from './stored-table.ts'

type KeyElement = { readonly AttributeName: string; readonly KeyType: string }
type IndexInput = {
  readonly IndexName: string
  readonly KeySchema: readonly KeyElement[]
  readonly Projection?: { readonly ProjectionType?: string }
}
type Keep = (name: string, schema: TableSchema | undefined) => void

export class TableDirectory {
  private readonly tables = new Map<string, StoredTable>()
  private readonly keep: Keep

  constructor(keep: Keep) {
    this.keep = keep
  }

  get(name: unknown): StoredTable {
    const table = this.tables.get(String(name))
    if (table) return table
    throw new DynamoDbError('ResourceNotFoundException', 'Cannot do operations on a non-existent table')
  }

  all(): Iterable<StoredTable> {
    return this.tables.values()
  }

  add(name: string, schema: TableSchema): StoredTable {
    const table = new StoredTable(name, schema)
    this.tables.set(name, table)
    return table
  }

  execute(operation: string, input: Members): Members {
    const name = String(input.TableName)
    if (operation === 'CreateTable') return { TableDescription: this.create(name, schemaOf(input)) }
    if (operation === 'DescribeTable') return { Table: describe(this.get(name)) }
    if (operation === 'ListTables') return { TableNames: [...this.tables.keys()].sort() }
    if (operation === 'DeleteTable') return { TableDescription: this.delete(name) }
    if (operation === 'UpdateTimeToLive') return this.setTimeToLive(this.get(name), input)
    if (operation === 'DescribeTimeToLive') {
      return { TimeToLiveDescription: describeTimeToLive(this.get(name).definition) }
    }
    if (operation === 'DescribeContinuousBackups') {
      // No fault of the caller, who asks it of a table in AWS.
      throw new DynamoDbError('UnknownOperationException', 'no backups here')
    }
    if (/^[A-Z]\w{1,60}$/.test(operation)) throw unsupported(operation)
    throw new DynamoDbError('UnknownOperationException', 'X-Amz-Target names no operation')
  }

  private create(name: string, schema: TableSchema): Members {
    if (this.tables.has(name)) throw new DynamoDbError('ResourceInUseException', `Table already exists: ${name}`)
    this.keep(name, schema)
    return describe(this.add(name, schema))
  }

  private delete(name: string): Members {
    const table = this.get(name)
    this.tables.delete(name)
    this.keep(name, undefined)
    return describe(table)
  }

  private setTimeToLive(table: StoredTable, input: Members): Members {
    const { AttributeName, Enabled } = (input.TimeToLiveSpecification ?? {}) as Members
    if (typeof AttributeName !== 'string' || typeof Enabled !== 'boolean') {
      throw validationError('TimeToLiveSpecification takes AttributeName and Enabled')
    }
    table.definition = { ...table.definition, timeToLive: Enabled ? AttributeName : undefined }
    this.keep(table.name, table.definition)
    return { TimeToLiveSpecification: { AttributeName, Enabled } }
  }
}

function describeTimeToLive({ timeToLive }: TableSchema): Members {
  if (timeToLive === undefined) return { TimeToLiveStatus: 'DISABLED' }
  return { TimeToLiveStatus: 'ENABLED', AttributeName: timeToLive }
}

const TABLE_NAME = /^[\w.-]{3,255}$/

/** The table that CreateTable asks for. Keys are texts here. */
function schemaOf(input: Members): TableSchema {
  if (!TABLE_NAME.test(String(input.TableName))) {
    throw validationError('TableName must be 3 to 255 characters long, of letters, digits, and _ - .')
  }
  if (input.LocalSecondaryIndexes) throw unsupported('LocalSecondaryIndexes')
  const attributes = (input.AttributeDefinitions ?? []) as readonly { readonly AttributeType: string }[]
  if (attributes.some(({ AttributeType }) => AttributeType !== 'S')) throw unsupported('keys of any type but S')
  const indexes = (input.GlobalSecondaryIndexes ?? []) as readonly IndexInput[]
  return {
    ...keysOf(input.KeySchema as readonly KeyElement[]),
    indexes: indexes.map(({ IndexName, KeySchema, Projection }) => {
      const type = Projection?.ProjectionType
      if (type !== 'ALL' && type !== 'KEYS_ONLY') throw unsupported(`the ProjectionType ${type}`)
      return { ...keysOf(KeySchema), name: IndexName, projection: type === 'ALL' ? 'all' : 'keys' }
    }),
  }
}

const KEY_TYPES = ['HASH', 'RANGE']

function keysOf(elements: readonly KeyElement[] = []): Schema {
  const [partitionKey, sortKey] = KEY_TYPES.map(
    (type) => elements.find(({ KeyType }) => KeyType === type)?.AttributeName,
  )
  if (!partitionKey) throw validationError('A KeySchema has no element of the type HASH')
  return { partitionKey, ...(sortKey && { sortKey }) }
}

function describe(table: StoredTable): Members {
  const { name, definition } = table
  const { indexes } = definition
  const names = new Set([definition, ...indexes].flatMap(keyNames))
  return {
    TableName: name,
    TableStatus: 'ACTIVE',
    TableArn: `arn:aws:dynamodb:local:000000000000:table/${name}`,
    ItemCount: [...table.items()].length,
    KeySchema: keySchema(definition),
    AttributeDefinitions: Array.from(names, (AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map((index) => ({
        IndexName: index.name,
        IndexStatus: 'ACTIVE',
        KeySchema: keySchema(index),
        Projection: { ProjectionType: index.projection === 'all' ? 'ALL' : 'KEYS_ONLY' },
      })),
    }),
  }
}

function keySchema(schema: Schema): KeyElement[] {
  return keyNames(schema).map((AttributeName, i) => ({ AttributeName, KeyType: KEY_TYPES[i] as string }))
}
