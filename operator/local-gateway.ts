import { join } from 'node:path'
import type { NamedVariable } from './local-keys.ts'

// The names by which `npm start` and the command line find each other.

/** In the folder in which `npm start` runs. */
export const LOCAL_FOLDER = '.waybill'
export const LOCAL_FILE = join(LOCAL_FOLDER, 'local.json')
export const LOCAL_TABLES = {
  keysTable: 'waybill-local-keys',
  usageTable: 'waybill-local-usage',
  answersTable: 'waybill-local-answers',
}

/** The content of `.waybill/local.json` while the local gateway runs. */
export type LocalFile = {
  readonly baseUrl: string
  readonly dynamodbEndpoint: string
  readonly demoKey: string
  readonly echoUrl: string
  /** The variables that its catalog file named, and where it sends them. */
  readonly variables: readonly NamedVariable[]
  readonly pid: number
}
