import { creditsOf, introspection } from '../../layers/gateway/wire/introspection.ts'
import { freeGates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

export function createIntrospect(instance: Instance) {
  return jsonHandler(instance, freeGates(instance, 'introspect'), ({ endpoint, credential, requestId, nowMs }) =>
    endpoint.name === 'credits'
      ? creditsOf(credential.key)
      : introspection(credential.key, credential.hash, requestId, nowMs),
  )
}
