import { join, resolve } from 'node:path'
import type { LocalEndpoint } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import type { NamedVariable } from './local-keys.ts'

// The names by which `npm start` and the command line find each other.

/** The folder of a local gateway, in the one in which it is started. Two folders are two gateways. */
export const LOCAL_FOLDER = '.waybill'

export function localFolder(cwd: string, given = process.env.WAYBILL_DATA || undefined): string {
  return resolve(cwd, given ?? LOCAL_FOLDER)
}

export function localFile(folder: string): string {
  return join(folder, 'local.json')
}

export const LOCAL_TABLES = {
  keysTable: 'waybill-local-keys',
  usageTable: 'waybill-local-usage',
  answersTable: 'waybill-local-answers',
}

/** The content of `local.json` while the local gateway runs. */
export type LocalFile = {
  readonly baseUrl: string
  readonly dynamodbEndpoint: string
  /** The password of the database, for the owner of the file only. */
  readonly dynamodbCredentials?: LocalEndpoint['credentials']
  readonly demoKey: string
  readonly echoUrl: string
  /** The variables that its catalog file named, and the addresses that they are sent to. */
  readonly variables: readonly NamedVariable[]
  readonly pid: number
}

export function endpointOf({ dynamodbEndpoint, dynamodbCredentials }: LocalFile): LocalEndpoint {
  return { endpoint: dynamodbEndpoint, ...(dynamodbCredentials && { credentials: dynamodbCredentials }) }
}
