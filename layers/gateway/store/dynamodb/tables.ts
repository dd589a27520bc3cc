import type { Config } from '../../platform/config.ts'
import type { Database } from './database.ts'
import { dynamoDb, type LocalEndpoint } from './dynamodb-client.ts'

export type Tables = {
  readonly database: Database
  readonly keys: string
  readonly usage: string
  readonly answers: string
}

export type TableNames = Pick<Config, 'keysTable' | 'usageTable' | 'answersTable'>

export function openTables(names: TableNames, local?: LocalEndpoint): Tables {
  return { database: dynamoDb(local), keys: names.keysTable, usage: names.usageTable, answers: names.answersTable }
}
