import {
  CreateTableCommand,
  type CreateTableCommandInput,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { TABLES, type TableDefinition } from '../../names.ts'
import type { OperatorTables } from './operator-tables.ts'

/** The tables of the stack in DynamoDB Local, from the same definitions. */
export async function createTables({ client, keys, usage, answers }: OperatorTables): Promise<void> {
  await Promise.all([create(keys, TABLES.keys), create(usage, TABLES.usage), create(answers, TABLES.answers)])

  async function create(name: string, definition: TableDefinition): Promise<void> {
    try {
      await client.send(new CreateTableCommand(createTableInput(name, definition)))
    } catch (error) {
      if (error instanceof ResourceInUseException) return
      throw error
    }
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: name,
        TimeToLiveSpecification: { AttributeName: definition.timeToLive, Enabled: true },
      }),
    )
  }
}

export function createTableInput(name: string, table: TableDefinition): CreateTableCommandInput {
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
        Projection: { ProjectionType: index.projection === 'all' ? ('ALL' as const) : ('KEYS_ONLY' as const) },
      })),
    }),
  }
}

function keySchema({ partitionKey, sortKey }: { partitionKey: string; sortKey?: string }) {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' as const },
    ...(sortKey ? [{ AttributeName: sortKey, KeyType: 'RANGE' as const }] : []),
  ]
}
