import { prefetching } from '../../layers/gateway/flow/routing/catalog-cache.ts'
import { findRoute } from '../../layers/gateway/wire/find-route.ts'
import { modelEntry, modelList, noSuchModel } from '../../layers/gateway/wire/models.ts'
import { freeGates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

export function createModels(instance: Instance) {
  const { loadCatalog } = instance
  return jsonHandler(
    instance,
    freeGates(instance, 'models', { prefetch: prefetching(loadCatalog) }),
    async (_, event) => {
      const { models } = await loadCatalog()
      const found = findRoute('GET', event.rawPath)
      const id = 'id' in found ? found.id : undefined
      if (id === undefined) return modelList(models.values())
      const model = models.get(id)
      if (!model) throw noSuchModel(id, models.keys())
      return modelEntry(model)
    },
  )
}
