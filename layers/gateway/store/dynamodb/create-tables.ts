import { TABLES, type TableDefinition } from '../../names.ts'
import type { Tables } from './database.ts'

/** The tables of the stack in the local database, from the same definitions. */
export async function createTables({ database, keys, usage, answers }: Tables): Promise<void> {
  await Promise.all([create(keys, TABLES.keys), create(usage, TABLES.usage), create(answers, TABLES.answers)])

  async function create(name: string, definition: TableDefinition): Promise<void> {
    try {
      await database.control('CreateTable', createTableInput(name, definition))
    } catch (error) {
      if ((error as Error).name === 'ResourceInUseException') return
      throw error
    }
    const TimeToLiveSpecification = { AttributeName: definition.timeToLive, Enabled: true }
    await database.control('UpdateTimeToLive', { TableName: name, TimeToLiveSpecification })
  }
}

export function createTableInput(name: string, table: TableDefinition) {
  const indexKeys = table.indexes.flatMap((index) => [index.partitionKey, index.sortKey])
  const attributes = new Set([table.partitionKey, ...(table.sortKey ? [table.sortKey] : []), ...indexKeys])
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...attributes].map((attribute) => ({ AttributeName: attribute, AttributeType: 'S' })),
    KeySchema: keySchema(table),
    ...(table.indexes.length > 0 && {
      GlobalSecondaryIndexes: table.indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: keySchema(index),
        Projection: { ProjectionType: index.projection === 'all' ? 'ALL' : 'KEYS_ONLY' },
      })),
    }),
  }
}

function keySchema({ partitionKey, sortKey }: { partitionKey: string; sortKey?: string }) {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' },
    ...(sortKey ? [{ AttributeName: sortKey, KeyType: 'RANGE' }] : []),
  ]
}
