import { readFile } from 'node:fs/promises'
import type { CatalogData } from '../layers/gateway/domain/catalog.ts'
import { parseCatalog } from '../layers/gateway/wire/parse-catalog.ts'

/** In a provider's `baseUrl`: the echo upstream that `npm start` brings along. */
const ECHO = 'local:echo'

export type LocalCatalog = {
  readonly catalog: CatalogData
  /** Models that have no route on this machine, and the variables that would give them one. */
  readonly off: readonly { readonly model: string; readonly missing: readonly string[] }[]
}

type HasVariable = (name: string) => boolean

/** Throws an Error whose message is meant for the person at the terminal. */
export async function loadCatalog(file: string, echoUrl: string, hasVariable: HasVariable): Promise<LocalCatalog> {
  const parsed = parseCatalog(withEcho(await readJson(file), echoUrl))
  if ('faults' in parsed) throw new Error(`The catalog ${file} is not valid. ${parsed.faults.join('; ')}`)
  return onThisMachine(parsed.catalog, hasVariable)
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The catalog ${file} cannot be read (${error.code}).`)
  })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`The catalog ${file} is not JSON: ${(error as Error).message}`)
  }
}

function withEcho(value: unknown, echoUrl: string): unknown {
  const text = JSON.stringify(value, (name, inner) => (name === 'baseUrl' && inner === ECHO ? echoUrl : inner))
  return text === undefined ? value : JSON.parse(text)
}

/** Routes whose provider key is not in the environment are left out, and models left without any are off. */
function onThisMachine(catalog: CatalogData, hasVariable: HasVariable): LocalCatalog {
  const missing = new Map<string, string>()
  for (const [id, { apiKey }] of Object.entries(catalog.providers)) {
    if (apiKey?.startsWith('secret:')) missing.set(id, `${apiKey} (only in AWS)`)
    if (apiKey?.startsWith('env:') && !hasVariable(apiKey.slice(4))) missing.set(id, apiKey.slice(4))
  }
  const off: { model: string; missing: string[] }[] = []
  const models = catalog.models.map((model) => {
    const routes = model.routes.filter(({ provider }) => !missing.has(provider))
    if (routes.length > 0) return { ...model, routes }
    off.push({ model: model.id, missing: model.routes.map(({ provider }) => missing.get(provider) ?? provider) })
    return { ...model, active: false }
  })
  return { catalog: { ...catalog, models }, off }
}
