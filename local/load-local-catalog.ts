import { apiKeyOf, type CatalogData } from '../layers/gateway/domain/catalog.ts'
import { readCatalogFile } from '../operator/commands/read-catalog-file.ts'

export type LocalCatalog = {
  readonly catalog: CatalogData
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
  const off: { model: string; missing: string[] }[] = []
  const models = catalog.models.map((model) => {
    const routes = model.routes.filter(({ provider }) => !missing.has(provider))
    if (routes.length > 0) return { ...model, routes }
    off.push({ model: model.id, missing: model.routes.map(({ provider }) => missing.get(provider) ?? provider) })
    return { ...model, active: false }
  })
  return { catalog: { ...catalog, models }, off }
}
