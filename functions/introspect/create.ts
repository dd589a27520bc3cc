import { introspection } from '../../layers/gateway/wire/introspection.ts'
import { gates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

export function createIntrospect(instance: Instance) {
  return jsonHandler(gates(instance, 'introspect', { name: 'key.introspect' }), ({ credential, requestId, nowMs }) => {
    if (!credential) throw new Error('A call was admitted without a key.')
    return introspection(credential.key, credential.hash, requestId, nowMs)
  })
}
