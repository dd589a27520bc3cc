import { TABLES } from '../../contract.ts'
import { queryItems } from '../database.ts'
import { keyIdOf, sweepTime } from '../keys/key-item.ts'
import type { Tables } from '../tables.ts'

/** The keys that may have a dead request by now. The cost grows with their number, not with keys or usage. */
type FindKeysToSweep = (nowMs: number) => AsyncIterable<string>

const [BY_SWEEP] = TABLES.keys.indexes

export function findKeysToSweep({ database, keys }: Tables): FindKeysToSweep {
  return async function* dueKeys(nowMs) {
    const items = queryItems(database, {
      TableName: keys,
      IndexName: BY_SWEEP.name,
      KeyConditionExpression: '#partition = :key AND #sort <= :now',
      ExpressionAttributeNames: { '#partition': BY_SWEEP.partitionKey, '#sort': BY_SWEEP.sortKey },
      ExpressionAttributeValues: { ':key': 'KEY', ':now': sweepTime(nowMs) },
    })
    for await (const item of items) yield keyIdOf(item)
  }
}
