import { expect, test } from '@jest/globals'
import { shownGroups } from '../../layers/admin/usage/usage-numbers.ts'
import { partOf, UsageGroups } from '../../layers/gateway/domain/rows/day-total.ts'
import { completedRow } from '../support/completed-row.ts'

const partCharged = (cost: bigint) =>
  partOf(completedRow({ requestId: 'req_1', keyId: 'key_1', startedAtMs: 0, cost, hold: 9n }))

test('groups are the dearest first, and of equals by name, in whatever order their rows were read', () => {
  const costs = { d: 1n, b: 5n, a: 1n, c: 1n }
  const names = Object.keys(costs) as (keyof typeof costs)[]
  const orders = names.map((_, i) => [...names.slice(i), ...names.slice(0, i)])
  const shown = orders.map((order) => {
    const groups = new UsageGroups()
    for (const name of order) groups.add(name, partCharged(costs[name]))
    return shownGroups(groups, 'model').map(({ group, share }) => [group, share])
  })
  for (const one of shown) {
    expect(one).toEqual([
      ['b', 1000],
      ['a', 200],
      ['c', 200],
      ['d', 200],
    ])
  }
})

test('days are in their order, and each has its share of the dearest', () => {
  const groups = new UsageGroups()
  for (const [day, cost] of [
    ['2026-11-02', 4n],
    ['2026-11-01', 2n],
  ] as const) {
    groups.add(day, partCharged(cost))
  }
  expect(shownGroups(groups, 'day').map(({ group, share }) => [group, share])).toEqual([
    ['2026-11-01', 500],
    ['2026-11-02', 1000],
  ])
})
