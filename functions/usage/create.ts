import { GatewayError } from '../../layers/gateway/domain/gateway-error.ts'
import { readUsageRow } from '../../layers/gateway/store/usage/usage-rows.ts'
import { findRoute } from '../../layers/gateway/wire/find-route.ts'
import { usageRecord } from '../../layers/gateway/wire/usage-record.ts'
import { freeGates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

export function createUsage(instance: Instance) {
  const read = readUsageRow(instance.tables)
  return jsonHandler(instance, freeGates(instance, 'usage'), async ({ credential }, event) => {
    const found = findRoute('GET', event.rawPath)
    const row = 'id' in found ? await read(found.id ?? '') : undefined
    if (!row || row.keyId !== credential.key.id) {
      throw new GatewayError(
        'not_found',
        'This key has no request with that id. It is in the X-Request-Id header of an answer.',
      )
    }
    return usageRecord(row)
  })
}
