import { noSuchModel, prefetch } from '../../layers/gateway/middleware/assess.ts'
import { findRoute } from '../../layers/gateway/wire/find-route.ts'
import { modelEntry, modelList } from '../../layers/gateway/wire/models.ts'
import { gates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

export function createModels(instance: Instance) {
  const { loadCatalog } = instance
  const passed = gates(
    instance,
    'models',
    { name: 'models', scope: 'models.read' },
    { prefetch: prefetch(loadCatalog) },
  )
  return jsonHandler(passed, async (_, event) => {
    const { models } = await loadCatalog()
    const found = findRoute('GET', event.rawPath)
    const id = 'id' in found ? found.id : undefined
    if (id === undefined) return modelList(models.values())
    const model = models.get(id)
    if (!model) throw noSuchModel(id)
    return modelEntry(model)
  })
}
