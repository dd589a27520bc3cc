import { expect, test } from '@jest/globals'
import { applyUpdate } from '../../bench/apply-update.ts'

test('the tables in memory do an admission’s update and its settlement’s as DynamoDB does', () => {
  const item: Record<string, unknown> = { available: 100n, spent: 0n, full: 7, 'day:1': 9, holds: {} }
  const admission = {
    UpdateExpression:
      'SET full = full + :one, #day = if_not_exists(#day, :zero) + :one, available = available - :hold, holds.#id = :entry, sweepAt = if_not_exists(sweepAt, :at) REMOVE #old',
    ExpressionAttributeNames: { '#day': 'day:2', '#id': 'req_1', '#old': 'day:1' },
    ExpressionAttributeValues: { ':one': 1, ':zero': 0, ':hold': 30n, ':entry': { amount: 30n }, ':at': 'soon' },
  }
  const admitted = applyUpdate(item, admission)
  const expected = {
    available: 70n,
    spent: 0n,
    full: 8,
    'day:2': 1,
    holds: { req_1: { amount: 30n } },
    sweepAt: 'soon',
  }
  expect(admitted).toEqual(expected)

  const settled = applyUpdate(item, {
    UpdateExpression: 'SET available = available + :back, spent = spent + :cost REMOVE holds.#id',
    ExpressionAttributeNames: { '#id': 'req_1' },
    ExpressionAttributeValues: { ':back': 20n, ':cost': 10n },
  })
  expect(settled).toEqual({ ...expected, available: 90n, spent: 10n, holds: {} })
  expect(admitted).toEqual(expected)
})
