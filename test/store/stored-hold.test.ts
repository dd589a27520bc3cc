import { expect, test } from '@jest/globals'
import { readUlid, writeUlid } from '../../layers/gateway/domain/basics/time.ts'
import { readStoredHold, storedHold } from '../../layers/gateway/store/keys/key-item.ts'
import { requestIdAt } from '../support/request-id.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
const IN_16_MINUTES = NOW + 960_000

test.each([0n, 1n, 255n, 256n, 2_250_300_000n, 2n ** 53n + 1n, 10n ** 24n + 7n])(
  'a stored hold of %s nanocredits reads as it was written',
  (amount) => {
    const requestId = requestIdAt(NOW)
    const hold = { amount, untilMs: IN_16_MINUTES }
    expect(readStoredHold(storedHold(requestId, hold))).toEqual({ requestId, hold })
  },
)

test('a stored hold of a few credits takes at most 22 bytes of its key’s item', () => {
  expect(storedHold(requestIdAt(NOW), { amount: 9_999_999_999n, untilMs: IN_16_MINUTES }).length).toBeLessThanOrEqual(
    22,
  )
})

test('a stored hold never ends before the request that it belongs to', () => {
  for (const lifetimeMs of [1, 7_999, 8_000, 8_001, 89_000, 960_000]) {
    const { hold } = readStoredHold(storedHold(requestIdAt(NOW), { amount: 1n, untilMs: NOW + lifetimeMs }))
    expect(hold.untilMs).toBeGreaterThanOrEqual(NOW + lifetimeMs)
    expect(hold.untilMs).toBeLessThan(NOW + lifetimeMs + 8_000)
  }
})

test('the bytes of a ULID are the same ULID again, for ids of any time', () => {
  for (const ms of [0, 1, NOW, 2 ** 48 - 1]) {
    const id = requestIdAt(ms)
    expect(writeUlid(readUlid(id))).toBe(id.slice('req_'.length))
  }
  expect(() => readUlid('req_not-an-id')).toThrow(TypeError)
})
