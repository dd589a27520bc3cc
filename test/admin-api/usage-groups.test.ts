import { expect, test } from '@jest/globals'
import { shownGroups } from '../../layers/admin/usage/usage-numbers.ts'
import { partOf, UsageGroups } from '../../layers/gateway/domain/rows/day-total.ts'
import { completedRow } from '../support/completed-row.ts'

const partCharged = (cost: bigint) =>
  partOf(completedRow({ requestId: 'req_1', keyId: 'key_1', startedAtMs: 0, cost, hold: 9n }))

test.each<[string, Record<string, bigint>, [string, number][]]>([
  ['model', { d: 1n, b: 5n, a: 1n, c: 1n }, Object.entries({ b: 1000, a: 200, c: 200, d: 200 })],
  ['day', { '2026-11-02': 4n, '2026-11-01': 2n }, Object.entries({ '2026-11-01': 500, '2026-11-02': 1000 })],
])(
  'groups by %s are the dearest first, of equals by name, or days in order, however they are read',
  (by, costs, shown) => {
    const names = Object.keys(costs)
    for (const [i] of names.entries()) {
      const groups = new UsageGroups()
      for (const name of [...names.slice(i), ...names.slice(0, i)]) groups.add(name, partCharged(costs[name] ?? 0n))
      expect(shownGroups(groups, by).map(({ group, share }) => [group, share])).toEqual(shown)
    }
  },
)
