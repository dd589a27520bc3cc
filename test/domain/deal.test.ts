import { expect, test } from '@jest/globals'
import { intervalUs, tokensLeft } from '../../layers/gateway/domain/admission/bucket.ts'
import { dealOut, leastTaken } from '../../layers/gateway/domain/admission/deal.ts'
import { rateOf } from '../../layers/gateway/domain/admission/shares.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { KEY_DEFAULTS, newKey } from '../../layers/gateway/domain/keys/new-key.ts'

const NOW_MS = Date.UTC(2026, 10, 15, 12)
const stored = { hash: '', lastFour: '' }
const settings = { ...KEY_DEFAULTS, name: 'test', rpm: 10, lanes: 3 }
const whole = newKey({ settings, credits: 0n, prefix: 'svc_live_', stored }, NOW_MS, new Uint8Array(10))
const laneOf = (index: number, more: Partial<Key>): Key => ({
  ...whole,
  address: index === 0 ? whole.id : `${whole.id}.${index}`,
  lane: { index, deal: 1, isClosed: true, dealt: {} },
  ...more,
})

test('a deal by an act that has waited gives back nothing of a minute that requests have used up since', () => {
  const lateMs = NOW_MS + 20_000
  const used = (share: number) => lateMs * 1000 + share * intervalUs(share)
  const lanes = [5, 5, 0].map((share, i) => laneOf(i, { bucketFullAtUs: share === 0 ? 0 : used(share) }))
  const plan = dealOut(lanes, { lanes: 2, rpm: 10 }, NOW_MS)
  const left = plan.map(({ fullAtUs = 0 }, i) => tokensLeft(rateOf(lanes[i] as Key), fullAtUs, lateMs))
  expect(left).toEqual([0, 0, 0])
})

test('a deal when all buckets are full again lets a request that has waited take no minute for a second time', () => {
  const [waitedMs, rates] = [NOW_MS - 61_000, [4, 3, 3]]
  const full = (share: number) => waitedMs * 1000 + share * intervalUs(share)
  const lanes = rates.map((share, i) => laneOf(i, { bucketFullAtUs: full(share) }))
  const plan = dealOut(lanes, { lanes: 2, rpm: 10 }, NOW_MS)
  const leftAt = (ms: number) => plan.map(({ fullAtUs = 0 }, i) => tokensLeft(rateOf(lanes[i] as Key), fullAtUs, ms))
  expect(leftAt(waitedMs)).toEqual([0, 0, 0])
  expect(leftAt(NOW_MS)).toEqual(rates)
})

test('what a request held that ended between two readings may have been given back before others took it', () => {
  const ended = 'req_01M7FH87G0E0RV00H0S1JBZ722'
  const open = 'req_01M7FH87G0MDVJ7N5W0FR17V1G'
  const hold = { amount: 5n, untilMs: NOW_MS }
  const day = new Date(NOW_MS).toISOString().slice(0, 10)
  const minute = Math.trunc(NOW_MS / 60_000).toString(36)
  const counts = { ...whole.counts, tpm: { [minute]: 500n }, dailyCredits: { [day]: 12n }, dailyLimit: { [day]: 2n } }
  const before = laneOf(0, { holds: { [ended]: hold, [open]: hold }, counts })
  const [lane] = leastTaken([before], [laneOf(0, { holds: { [open]: hold }, counts })])
  expect(lane?.holds).toEqual({ [open]: hold })
  expect(lane?.counts).toMatchObject({ dailyCredits: { [day]: 7n }, dailyLimit: { [day]: 2n }, tpm: { [minute]: 0n } })
})
