import { KEY_DEFAULTS, newKey } from '../../layers/gateway/domain/new-key.ts'
import { createTables } from '../../layers/gateway/store/create-tables.ts'
import type { Database, UpdateInput } from '../../layers/gateway/store/database.ts'
import { toItem } from '../../layers/gateway/store/keys/key-item.ts'
import { openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { openTables } from '../../layers/gateway/store/tables.ts'
import { startDynamoDb } from '../../local/dynamodb-local.ts'

// What one write like admission's costs the processor, through our own client and through AWS's SDK. The two take
// turns, so that whatever else the machine does falls on both alike.

const ROUNDS = 15
const CALLS = 400
const AT_ONCE = [1, 16]

await using stack = new AsyncDisposableStack()
const local = await startDynamoDb(null, stack)
const names = { keysTable: 'keys', usageTable: 'usage', answersTable: 'answers' }
const operator = openOperatorTables(names, local)
await createTables(operator)
const subjects: Record<string, Database> = { lean: openTables(names, local).database, sdk: operator.database }

const stored = { hash: 'a'.repeat(64), lastFour: 'abcd' }
const settings = { ...KEY_DEFAULTS, name: 'bench' }
const key = newKey({ settings, credits: 10n ** 18n, prefix: 'svc_live_', stored }, Date.now(), new Uint8Array(10))
const hold = { amount: 123_456n, untilMs: Date.now() }
const holds = Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`req_01J0000000000000000000000${i}`, hold]))
await operator.database.put({ TableName: 'keys', Item: toItem({ ...key, holds }) })
const { pk, sk } = toItem(key)

for (const atOnce of AT_ONCE) {
  const figures: Record<string, number[]> = { lean: [], sdk: [] }
  for (let round = -3; round < ROUNDS; round++) {
    for (const [name, database] of Object.entries(subjects)) {
      const us = await cpuOf(database, atOnce)
      if (round >= 0) figures[name]?.push(us)
    }
  }
  const [lean, sdk] = [median(figures.lean ?? []), median(figures.sdk ?? [])]
  console.log(
    `${atOnce} at once: ${lean.toFixed(0)} µs a write, the SDK ${sdk.toFixed(0)} µs: ${(lean / sdk).toFixed(2)}×`,
  )
}
operator.client.destroy()

async function cpuOf(database: Database, atOnce: number): Promise<number> {
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let i = 0; i < CALLS / atOnce; i++) await database.updateOnce(write())
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}

function write(): UpdateInput {
  const nowMs = Date.now()
  return {
    TableName: 'keys',
    Key: { pk, sk },
    ConditionExpression:
      '#status = :active AND version = :version AND (currentHash = :hash OR (previousHash = :hash AND previousUntilMs > :nowMs)) AND bucketFullAtUs <= :nowUs AND (attribute_not_exists(#day) OR #day < :dailyLimit) AND size(holds) < :maxConcurrent AND available >= :hold',
    UpdateExpression:
      'SET bucketFullAtUs = :firstTaken, #day = if_not_exists(#day, :zero) + :zero, available = available - :hold, holds.#requestId = :entry, sweepAt = if_not_exists(sweepAt, :sweepAt)',
    ExpressionAttributeNames: {
      '#status': 'status',
      '#day': 'day:2026-11-15',
      '#requestId': 'req_01J00000000000000000000000',
    },
    ExpressionAttributeValues: {
      ':active': 'active',
      ':version': key.version,
      ':hash': stored.hash,
      ':nowMs': nowMs,
      ':dailyLimit': key.dailyLimit,
      ':maxConcurrent': key.maxConcurrent,
      ':hold': 123_456n,
      ':entry': { amount: 123_456n, untilMs: nowMs },
      ':sweepAt': new Date(nowMs).toISOString(),
      ':zero': 0,
      ':nowUs': nowMs * 1000,
      ':firstTaken': key.bucketFullAtUs,
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
