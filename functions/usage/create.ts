import { GatewayError } from '../../layers/gateway/domain/gateway-error.ts'
import { readUsageRow } from '../../layers/gateway/store/usage/usage-rows.ts'
import { findRoute } from '../../layers/gateway/wire/find-route.ts'
import { readUsageQuery } from '../../layers/gateway/wire/usage-query.ts'
import { usageRecord } from '../../layers/gateway/wire/usage-record.ts'
import { freeGates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'
import { answerList, answerSums } from './answer-list.ts'

export function createUsage(instance: Instance) {
  const { tables } = instance
  const read = readUsageRow(tables)
  return jsonHandler(instance, freeGates(instance, 'usage'), ({ credential: { key }, nowMs }, event) => {
    const found = findRoute('GET', event.rawPath)
    if ('id' in found && found.id !== undefined) return answerRow(found.id, key.id)
    const query = readUsageQuery(event.rawQueryString, nowMs)
    const { group } = query
    return group === undefined ? answerList(tables, key, query) : answerSums(tables, key, { ...query, group }, nowMs)
  })

  async function answerRow(requestId: string, keyId: string) {
    const row = await read(requestId)
    if (row?.keyId === keyId) return usageRecord(row)
    throw new GatewayError(
      'not_found',
      'This key has no request with that id. It is in the X-Request-Id header of an answer.',
    )
  }
}
