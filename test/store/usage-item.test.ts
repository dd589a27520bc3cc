import { marshall } from '@aws-sdk/util-dynamodb'
import { expect, test } from '@jest/globals'
import { writeUnits } from '../../bench/bill/bill.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { toUsageItem, toUsageRow } from '../../layers/gateway/store/rows/usage-item.ts'
import { readUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { openTestTables } from '../support/gateway.ts'
import { itemBytes } from '../support/item-bytes.ts'

/** Long names, and two routes that failed before one answered. */
const ROW: UsageRow = {
  requestId: 'req_01J00000000000000000000000',
  keyId: 'key_01J00000000000000000000000',
  endpoint: 'chat.completions',
  startedAtMs: Date.UTC(2026, 10, 15, 12),
  outcome: 'completed',
  httpStatus: 200,
  errorCode: undefined,
  model: 'anthropic/claude-sonnet-4.5',
  provider: 'anthropic-bedrock',
  upstreamModel: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  fallbackModel: undefined,
  stream: true,
  promptTokens: 123_456,
  completionTokens: 12_345,
  cachedTokens: 12_000,
  usageSource: 'upstream',
  usageRejected: false,
  cost: 1_234_567_891n,
  hold: 12_345_678_912n,
  priceVersion: 123,
  price: { input: '3.000001', output: '15.000001', cachedInput: '0.300001' },
  attempts: [
    { provider: 'anthropic', model: 'claude-sonnet-4-5', result: 'status 529', ms: 812 },
    { provider: 'openrouter', model: 'anthropic/claude-sonnet-4.5', result: 'timeout', ms: 60_000 },
    { provider: 'anthropic-bedrock', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', result: 'ok', ms: 1_234 },
  ],
  ttftMs: 62_046,
  durationMs: 91_234,
}

test('a usage row is stored unchanged, in one write unit of the table and one of its index', async () => {
  const tables = await openTestTables()
  const Item = toUsageItem(ROW)
  await tables.database.put({ TableName: tables.usage, Item })
  // The index has all of the item, so it takes as many units.
  expect(writeUnits(itemBytes(marshall(Item, { removeUndefinedValues: true })))).toBe(1)
  const { errorCode, fallbackModel, ...stored } = ROW
  expect(await readUsageRow(tables)(ROW.requestId)).toEqual(stored)
})

test('a usage row whose money is not a whole number is reported as damaged, with its request id', () => {
  expect(() => toUsageRow({ ...toUsageItem(ROW), cost: 1.5 })).toThrow(`${ROW.requestId} is damaged: its cost is 1.5`)
  expect(() => toUsageRow({ ...toUsageItem(ROW), hold: undefined })).toThrow('its hold is undefined')
})
