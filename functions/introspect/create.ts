import { introspection } from '../../layers/gateway/wire/introspection.ts'
import { freeGates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

export function createIntrospect(instance: Instance) {
  const gates = freeGates(instance, { name: 'introspect', endpoint: { name: 'key.introspect' } })
  return jsonHandler(gates, ({ credential, requestId, nowMs }) =>
    introspection(credential.key, credential.hash, requestId, nowMs),
  )
}
