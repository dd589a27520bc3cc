import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Problem } from '../operator/problem.ts'
import type { NamedVariable } from './local-keys.ts'

export type LocalSettings = { readonly port: number; readonly catalogFile: string; readonly dataFolder: string | null }

export const LOCAL_FOLDER = '.waybill'
export const LOCAL_FILE = join(LOCAL_FOLDER, 'local.json')
export const LOCAL_TABLES = {
  keysTable: 'waybill-local-keys',
  usageTable: 'waybill-local-usage',
  answersTable: 'waybill-local-answers',
}

/** What `.waybill/local.json` says while the local gateway runs. */
export type LocalFile = {
  readonly baseUrl: string
  readonly dynamodbEndpoint: string
  readonly demoKey: string
  readonly echoUrl: string
  /** The variables that its catalog file named, and where it sends them. */
  readonly variables: readonly NamedVariable[]
  readonly pid: number
}

const DEFAULT_CATALOG = fileURLToPath(new URL('catalog.json', import.meta.url))

export function readSettings(env: NodeJS.ProcessEnv): LocalSettings {
  const { PORT: port = '8787', WAYBILL_CATALOG: catalog, WAYBILL_DATA: data } = env
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new Problem(`PORT must be a number from 0 to 65535, but is '${port}'.`)
  }
  return {
    port: Number(port),
    catalogFile: catalog ? resolve(catalog) : DEFAULT_CATALOG,
    dataFolder: data ? resolve(data) : null,
  }
}
