import { readCatalogFile, readCatalogJson } from '../cli/commands/read-catalog-file.ts'
import { apiKeyOf, type CatalogData, type CatalogModel } from '../layers/gateway/domain/routing/catalog.ts'

export type LocalCatalog = {
  readonly catalog: CatalogData
  /** The same in JSON, as its author wrote it. */
  readonly source: string
  /** Models that have no route on this machine, and the variables that would give them one. */
  readonly off: readonly { readonly model: string; readonly missing: readonly string[] }[]
}

type HasVariable = (name: string) => boolean

/** Routes whose provider key is not in the environment are left out, and models left without any are off. */
export async function loadLocalCatalog(file: string, echoUrl: string, hasVariable: HasVariable): Promise<LocalCatalog> {
  const catalog = await readCatalogFile(file, echoUrl)
  const missing = new Map<string, string>()
  for (const [id, entry] of Object.entries(catalog.providers)) {
    const apiKey = apiKeyOf(entry)
    if (apiKey?.startsWith('secret:')) missing.set(id, `${apiKey} (only in AWS)`)
    if (apiKey?.startsWith('env:') && !hasVariable(apiKey.slice(4))) missing.set(id, apiKey.slice(4))
  }
  const here = <T extends CatalogModel>(model: T): T => {
    const routes = model.routes.filter(({ provider }) => !missing.has(provider))
    return routes.length > 0 ? { ...model, routes } : { ...model, active: false }
  }
  const isOff = ({ routes }: CatalogModel) => routes.every(({ provider }) => missing.has(provider))
  const off = catalog.models.filter(isOff).map(({ id, routes }) => ({
    model: id,
    missing: routes.map(({ provider }) => missing.get(provider) ?? provider),
  }))
  const written = (await readCatalogJson(file)) as CatalogData
  const source = JSON.stringify({ ...written, models: written.models.map(here) })
  return { catalog: { ...catalog, models: catalog.models.map(here) }, source, off }
}
