import { expect, test } from '@jest/globals'
import { DAY_MS, isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { ROW_SHARDS, rowKey, rowParts } from '../../layers/gateway/store/rows/usage-item.ts'
import { idsOf, readUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { requestIdAt } from '../support/request-id.ts'
import { NOW, tables } from './support/store.ts'

test('the rows of a day are spread evenly over its partitions, and over no others', () => {
  const counts = new Map(rowParts('2026-11-15').map((part) => [part, 0]))
  for (let i = 0; i < 8_000; i++) {
    const { part } = rowKey(requestIdAt(NOW))
    counts.set(part, (counts.get(part) ?? 0) + 1)
  }
  expect(counts.size).toBe(ROW_SHARDS)
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250)
})

test('every id of a range is between its first and its last, and no other', () => {
  const [fromMs, toMs] = [NOW, NOW + DAY_MS]
  const { firstId, lastId } = idsOf({ fromMs, toMs })
  for (const ms of [fromMs, fromMs + 1, toMs - 1]) {
    const id = requestIdAt(ms)
    expect(id >= firstId && id <= lastId).toBe(true)
  }
  for (const ms of [fromMs - 1, toMs]) {
    const id = requestIdAt(ms)
    expect(id >= firstId && id <= lastId).toBe(false)
  }
})

test('the last millisecond of a day is in its partitions, and the next one in those of the next day', () => {
  const midnight = Date.parse('2026-11-16')
  const dayOf = (ms: number) => rowKey(requestIdAt(ms)).part.split('#')[1]
  expect([midnight - 1, midnight].map(dayOf)).toEqual([midnight - 1, midnight].map((ms) => isoTime(ms).slice(0, 10)))
})

test.each(['', 'none', 'req_', 'req_1', 'DAY#CLOSING', `${requestIdAt(NOW)}0`, requestIdAt(NOW).replace('req', 'abc')])(
  'no row is looked for by %p, which is no id of ours',
  async (id) => {
    expect(await readUsageRow(tables)(id)).toBeUndefined()
  },
)
