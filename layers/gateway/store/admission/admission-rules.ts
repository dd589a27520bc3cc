import type { Demand } from '../../domain/admission/admission.ts'
import { hasToken, intervalUs, lastTakeableFullAtUs, latestSaneFullAtUs } from '../../domain/admission/bucket.ts'
import {
  COUNTER_NAMES,
  COUNTERS,
  type Counter,
  type CounterName,
  type Counts,
  countName,
  leftIn,
  limitOf,
  oldestKept,
  takenBy,
  windowOf,
} from '../../domain/admission/counters.ts'
import { atOnceOf, rateOf } from '../../domain/admission/shares.ts'
import type { AdmissionRefusal } from '../../domain/basics/gateway-error.ts'
import { isExpired, type Key } from '../../domain/keys/key.ts'
import type { Item } from '../dynamodb/database.ts'
import { toNano } from '../keys/key-item.ts'

/** A rule that a key must meet: as a condition of the admission write, and as a reason for its refusal. */
type AdmissionRule = {
  readonly refusal: AdmissionRefusal
  /** The condition on the stored key, if this request needs one. Values of this rule alone are added to `values`. */
  readonly condition: (cached: Key, demand: Demand, values: Item) => string | undefined
  readonly isMet: (stored: Key, demand: Demand) => boolean
}

const TAKEN: Readonly<Record<Counter['counts'], string>> = {
  requests: ' + :one',
  credits: ' + :hold',
  tokens: ' + :tokens',
  loss: '',
}
const BACK: Readonly<Partial<Record<Counter['counts'], string>>> = { credits: ':back', tokens: ':tokensBack' }

/** One counter's part in the two writes of a request. Its texts are joined once, because every request needs them. */
type CounterWrite = AdmissionRule & {
  readonly counts: Counter['counts']
  readonly take: string
  /** The change at settlement, if anything comes back. A window that is forgotten by then must not make the release fail. */
  readonly giveBack: string | undefined
  readonly nameWindow: (names: Record<string, string>, atMs: number) => void
}

export function counterWrite(name: CounterName, counter: Counter): CounterWrite {
  const [count, room, back] = [`#${name}`, `:${name}Room`, BACK[counter.counts]]
  const isWithin = `${count} <= ${room}`
  const isNewOrWithin = `(attribute_not_exists(${count}) OR ${isWithin})`
  return {
    counts: counter.counts,
    refusal: counter.refusal,
    condition: (cached, demand, values) => {
      const [limit, taken] = [limitOf(cached, name, demand.nowMs), takenBy(demand, counter)]
      if (limit === undefined || taken === 0n) return undefined
      values[room] = limit - taken
      // A request beyond the whole limit must not pass because it is the first of its window.
      return taken > limit ? isWithin : isNewOrWithin
    },
    isMet: (stored, demand) => {
      const [left, taken] = [leftIn(stored, name, demand.nowMs), takenBy(demand, counter)]
      return left === undefined || taken === 0n || taken <= left
    },
    // A loss is only read: what a write sets comes back with its answer.
    take: `${count} = if_not_exists(${count}, :zero)${TAKEN[counter.counts]}`,
    giveBack: back && `${count} = if_not_exists(${count}, ${back}) - ${back}`,
    nameWindow: (names, atMs) => {
      names[count] = countName(counter, windowOf(counter, atMs))
    },
  }
}

/** Those of every request. Tokens are counted for a key with a limit on them only, so that others pay nothing for it. */
export const COUNTER_WRITES = COUNTER_NAMES.filter((name) => COUNTERS[name].counts !== 'tokens').map((name) =>
  counterWrite(name, COUNTERS[name]),
)
export const TOKEN_WRITE = counterWrite('tpm', COUNTERS.tpm)

/** If a key breaks several rules, the first is the reason. */
export const ADMISSION_RULES: readonly AdmissionRule[] = [
  {
    refusal: 'key_suspended',
    condition: () => '#status = :active',
    // A revoked key is refused by the state of its secret, whatever else is wrong.
    isMet: ({ status }) => status !== 'suspended',
  },
  {
    refusal: 'invalid_api_key',
    condition: () => '(attribute_not_exists(expiresAtMs) OR expiresAtMs > :nowMs)',
    isMet: (key, { nowMs }) => !isExpired(key, nowMs),
  },
  {
    refusal: 'rate_limit_exceeded',
    condition: (cached, { nowMs }, values) => hasRoom(cached, nowMs, values),
    isMet: (key, { nowMs }) => hasToken(rateOf(key), key.bucketFullAtUs, nowMs),
  },
  ...COUNTER_WRITES.filter(({ counts }) => counts === 'requests'),
  {
    refusal: 'concurrency_limit_exceeded',
    condition: (cached, _, values) => {
      values[':maxConcurrent'] = atOnceOf(cached)
      return '(attribute_not_exists(openHolds) OR size(openHolds) < :maxConcurrent)'
    },
    isMet: (key) => !key.lane?.isClosed && Object.keys(key.holds).length < atOnceOf(key),
  },
  {
    refusal: 'credit_balance_exhausted',
    condition: () => 'available >= :hold',
    isMet: ({ available }, { hold }) => available >= hold,
  },
  // After the balance: a new window does not help a caller whose balance is used up.
  ...COUNTER_WRITES.filter(({ counts }) => counts === 'credits'),
  TOKEN_WRITE,
]

/** A lane may get no part of what is dealt out, or wait for it. */
export const takesNone = (key: Key) =>
  key.lane !== undefined && (key.lane.isClosed || rateOf(key) < 1 || atOnceOf(key) < 1)

export function whyNotAdmitted(key: Key, demand: Demand): AdmissionRefusal | undefined {
  return ADMISSION_RULES.find(({ isMet }) => !isMet(key, demand))?.refusal
}

/** The attributes of windows that no clock can ask for again. */
export function forgottenAttributes({ counts }: Key, nowMs: number): string[] {
  const forgotten: string[] = []
  for (const name of COUNTER_NAMES) {
    const oldest = oldestKept(COUNTERS[name], nowMs)
    for (const window in counts[name]) if (window < oldest) forgotten.push(countName(COUNTERS[name], window))
  }
  return forgotten
}

export function countsAfter({ counts }: Key, { nowMs }: Demand, changed: Item): Counts {
  const after = {} as Counts
  for (const name of COUNTER_NAMES) {
    const [current, oldest] = [windowOf(COUNTERS[name], nowMs), oldestKept(COUNTERS[name], nowMs)]
    const kept: Record<string, bigint> = {}
    for (const window in counts[name]) if (window >= oldest) kept[window] = counts[name][window] as bigint
    const now = changed[countName(COUNTERS[name], current)]
    if (now !== undefined) kept[current] = toNano(now)
    after[name] = kept
  }
  return after
}

// DynamoDB has no max(), so a full bucket and one in use are two writes, and one that a wrong clock left is a third.
// The cached copy decides between them; if it is wrong, because another instance has taken since, that costs one retry.
function formOf({ bucketFullAtUs }: Key, nowMs: number): 'full' | 'in use' | 'wrong' {
  if (bucketFullAtUs <= nowMs * 1000) return 'full'
  return bucketFullAtUs <= latestSaneFullAtUs(nowMs) ? 'in use' : 'wrong'
}

/** The condition that the bucket has room for a request. Its values are added to those of the write. */
function hasRoom(cached: Key, nowMs: number, values: Item): string {
  const form = formOf(cached, nowMs)
  if (form === 'wrong') {
    values[':latestSane'] = latestSaneFullAtUs(nowMs)
    return 'bucketFullAtUs > :latestSane'
  }
  values[':nowUs'] = nowMs * 1000
  if (form === 'full') return 'bucketFullAtUs <= :nowUs'
  values[':lastTakeable'] = lastTakeableFullAtUs(rateOf(cached), nowMs)
  return 'bucketFullAtUs > :nowUs AND bucketFullAtUs <= :lastTakeable'
}

export function takeFromBucket(cached: Key, nowMs: number, values: Item): string {
  const form = formOf(cached, nowMs)
  const interval = intervalUs(rateOf(cached))
  if (form === 'full') {
    values[':firstTaken'] = nowMs * 1000 + interval
    return 'bucketFullAtUs = :firstTaken'
  }
  if (form === 'wrong') {
    values[':lastTaken'] = lastTakeableFullAtUs(rateOf(cached), nowMs) + interval
    return 'bucketFullAtUs = :lastTaken'
  }
  values[':interval'] = interval
  return 'bucketFullAtUs = bucketFullAtUs + :interval'
}
