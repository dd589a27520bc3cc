import { GatewayError } from '../../layers/gateway/domain/basics/gateway-error.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { AdmittedRequest, GatewayEvent } from '../../layers/gateway/flow/request.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/tables.ts'
import { newestRequests } from '../../layers/gateway/store/rows/newest-requests.ts'
import { type RowBudget, usageOfKey } from '../../layers/gateway/store/rows/usage-of-key.ts'
import { readUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { idInPath } from '../../layers/gateway/wire/requests/find-route.ts'
import { readUsageQuery, type UsageGroup, type UsageQuery } from '../../layers/gateway/wire/rows/usage-query.ts'
import { usageRecord } from '../../layers/gateway/wire/rows/usage-record.ts'
import { usageSums } from '../../layers/gateway/wire/rows/usage-sums.ts'

/** The most rows that a call reads for a filter that few rows pass, and for sums: it is free, and must stay cheap. */
const MOST_ROWS = { listed: 2_000, summed: 10_000 }

export function answerUsage(tables: Tables) {
  const read = readUsageRow(tables)
  return ({ credential: { key }, nowMs }: AdmittedRequest, { rawPath, rawQueryString }: GatewayEvent) => {
    const id = idInPath(rawPath)
    if (id !== undefined) return answerRow(id, key.id)
    const query = readUsageQuery(rawQueryString, nowMs)
    const { group } = query
    return group === undefined ? answerList(tables, key, query) : answerSums(tables, key, { ...query, group }, nowMs)
  }

  async function answerRow(requestId: string, keyId: string) {
    const row = await read(requestId)
    if (row?.keyId === keyId) return usageRecord(row)
    throw new GatewayError(
      'not_found',
      'This key has no request with that id. It is in the X-Request-Id header of an answer.',
    )
  }
}

async function answerList(tables: Tables, { id: keyId }: Key, query: UsageQuery) {
  const { model } = query
  const matches =
    model === undefined ? undefined : (row: { readonly model?: string | undefined }) => row.model === model
  const found = await newestRequests(tables, { ...query, keyIds: [keyId], matches, mostRows: MOST_ROWS.listed })
  const { rows, next } = found
  return {
    object: 'list',
    data: rows.map(usageRecord),
    has_more: next !== undefined,
    last_id: next ?? rows.at(-1)?.requestId ?? null,
  }
}

type Summed = UsageQuery & { readonly group: UsageGroup }

export async function answerSums(tables: Tables, key: Key, query: Summed, nowMs: number, rows = MOST_ROWS.summed) {
  const { range, model, group } = query
  const budget: RowBudget = { rows, leftOut: [], nowMs }
  const usage = await Array.fromAsync(usageOfKey(tables, key, range, budget))
  const wanted = model === undefined ? usage : usage.filter(({ part }) => part.model === model)
  return usageSums(group, range, wanted, budget.leftOut)
}
