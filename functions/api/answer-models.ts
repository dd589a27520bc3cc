import { modelsFor } from '../../layers/gateway/domain/admission/access.ts'
import type { AdmittedRequest, GatewayEvent } from '../../layers/gateway/flow/request.ts'
import type { LoadCatalog } from '../../layers/gateway/flow/routing/catalog-cache.ts'
import { idInPath } from '../../layers/gateway/wire/requests/find-route.ts'
import { modelEntry, modelList, modelNotAllowed, noSuchModel } from '../../layers/gateway/wire/routing/models.ts'

/** The models that the key may use, or one of them. */
export function answerModels(loadCatalog: LoadCatalog) {
  return async ({ credential }: AdmittedRequest, { rawPath }: GatewayEvent) => {
    const catalog = await loadCatalog()
    const allowed = modelsFor(credential.key, catalog)
    const id = idInPath(rawPath)
    if (id === undefined) return modelList(allowed)
    const model = catalog.models.get(id)
    if (!model) throw noSuchModel(id, allowed)
    if (!allowed.includes(model)) throw modelNotAllowed(id)
    return modelEntry(model)
  }
}
