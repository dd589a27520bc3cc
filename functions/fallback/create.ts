import { gates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

/** Whatever no other function takes: the same gates, of which `expect` refuses. */
export function createFallback(instance: Instance) {
  return jsonHandler(gates(instance, 'fallback', { name: 'unknown' }), () => {
    throw new Error('A call that has a function of its own reached the fallback.')
  })
}
