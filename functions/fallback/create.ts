import { freeGates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

/** Takes the calls that are for no other function: the same gates, of which `matchEndpoint` refuses. */
export function createFallback(instance: Instance) {
  return jsonHandler(instance, freeGates(instance, 'fallback'), () => {
    throw new Error('A call that has a function of its own reached the fallback.')
  })
}
