import type { Key } from '../../domain/keys/key.ts'
import { TABLES } from '../../names.ts'
import { updateIf } from '../dynamodb/conditional-writes.ts'
import { type Item, queryItems, type Tables } from '../dynamodb/database.ts'
import { accountItem, keyIdOf, keyItem, LANE_SORT_KEY, SWEEP_AT_ONCE, sweepTime } from '../keys/key-item.ts'

const [BY_SWEEP] = TABLES.keys.indexes

/** The keys that may have a dead request by now, or have events on their items. The cost grows with their number, not with keys or usage. */
export function findKeysToSweep(tables: Tables, nowMs: number) {
  const read = (item: Item) => ({ keyId: keyIdOf(item), hasEvents: item.sweepAt === SWEEP_AT_ONCE })
  return dueItems(tables, 'KEY', sweepTime(nowMs), read)
}

/** The addresses of the lanes that may have a dead request, or a refusal to be told. */
export function findLanesToSweep(tables: Tables, nowMs: number) {
  return dueItems(tables, LANE_SORT_KEY, sweepTime(nowMs), keyIdOf)
}

/** The accounts whose purses have credits, whose keys must be told of a change, or whose balance may be low. */
export function findAccountsToSweep(tables: Tables, nowMs: number) {
  return dueItems(tables, accountItem('').sk, sweepTime(nowMs), keyIdOf)
}

/** The items of one kind whose time to be swept has come, the earliest first. */
export function dueItems<T>({ database, keys }: Tables, kind: string, sweepAt: string, read: (item: Item) => T) {
  const input = {
    TableName: keys,
    IndexName: BY_SWEEP.name,
    KeyConditionExpression: '#partition = :kind AND #sort <= :now',
    ExpressionAttributeNames: { '#partition': BY_SWEEP.partitionKey, '#sort': BY_SWEEP.sortKey },
    ExpressionAttributeValues: { ':kind': kind, ':now': sweepAt },
  }
  return queryItems(database, input, read)
}

const HAS_NOTHING_KEPT = 'attribute_not_exists(pendingEvents) AND attribute_not_exists(notices)'
/** Every admission changes the bucket, and every act the version. One that was settled meanwhile may have left a balance to be told. */
const NOTHING_SINCE = `version = :version AND bucketFullAtUs = :bucket AND ${HAS_NOTHING_KEPT}`

/** Sets the time at which the sweep must look at the key again: when its next hold may be of a dead request, or never. */
export function scheduleSweep(tables: Tables) {
  return async (key: Key, nowMs: number): Promise<void> => {
    const untils = Object.values(key.holds).map(({ untilMs }) => untilMs)
    const nextMs = key.notifyBelow === undefined ? Math.min(...untils) : nowMs
    const values = { ':version': key.version, ':bucket': key.bucketFullAtUs }
    const next =
      untils.length > 0
        ? {
            ConditionExpression: NOTHING_SINCE,
            UpdateExpression: 'SET sweepAt = :next',
            ExpressionAttributeValues: { ...values, ':next': sweepTime(nextMs) },
          }
        : {
            ConditionExpression: `${NOTHING_SINCE} AND attribute_not_exists(openHolds)`,
            UpdateExpression: 'REMOVE sweepAt',
            ExpressionAttributeValues: values,
          }
    // If a request was admitted meanwhile, or the item has an event or a notice, the key stays where the next sweep finds it.
    await updateIf(tables, keyItem(key.address), next)
  }
}
