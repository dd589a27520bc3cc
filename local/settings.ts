import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CliError } from '../operator/cli-error.ts'

export type LocalSettings = { readonly port: number; readonly catalogFile: string; readonly dataFolder: string | null }

const DEFAULT_CATALOG = fileURLToPath(new URL('catalog.json', import.meta.url))

export function readSettings(env: NodeJS.ProcessEnv): LocalSettings {
  const { PORT: port = '8787', WAYBILL_CATALOG: catalog, WAYBILL_DATA: data } = env
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new CliError(`PORT must be a number from 0 to 65535, but is '${port}'.`)
  }
  return {
    port: Number(port),
    catalogFile: catalog ? resolve(catalog) : DEFAULT_CATALOG,
    dataFolder: data ? resolve(data) : null,
  }
}
