import { modelsFor } from '../../layers/gateway/domain/allowed-models.ts'
import { prefetching } from '../../layers/gateway/flow/routing/catalog-cache.ts'
import { findRoute } from '../../layers/gateway/wire/find-route.ts'
import { modelEntry, modelList, modelNotAllowed, noSuchModel } from '../../layers/gateway/wire/models.ts'
import { freeGates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

export function createModels(instance: Instance) {
  const { loadCatalog } = instance
  return jsonHandler(
    instance,
    freeGates(instance, 'models', { prefetch: prefetching(loadCatalog) }),
    async ({ credential }, event) => {
      const catalog = await loadCatalog()
      const allowed = modelsFor(credential.key, catalog)
      const found = findRoute('GET', event.rawPath)
      const id = 'id' in found ? found.id : undefined
      if (id === undefined) return modelList(allowed)
      const model = catalog.models.get(id)
      if (!model) throw noSuchModel(id, allowed)
      if (!allowed.includes(model)) throw modelNotAllowed(id)
      return modelEntry(model)
    },
  )
}
