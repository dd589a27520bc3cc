import { COUNTERS, type CounterName } from '../../layers/gateway/domain/admission/counters.ts'
import { fail, nano, type StoredItem, windowAt } from './ledger.ts'
import { openHolds } from './stored-hold.ts'

export type Admission = { readonly requestId: string; readonly clockMs: number; readonly rpm: number }

/** The limits in force when a deal began, and all that the lanes had together when the first one was opened again. */
type Deal = {
  readonly lanes: number
  readonly rpm: number
  frozen?: readonly StoredItem[]
  admittedSince: number
}
/** All lanes of a key as one write has left them, the first one first. */
type Moment = { readonly lanes: readonly StoredItem[]; readonly deal?: Deal | undefined }

/** The limits that are dealt out, by the refusal that says that one is used up. */
const COUNTER_REFUSALS = Object.fromEntries(
  Object.entries(COUNTERS).flatMap(([name, { counts, refusal }]) => (counts === 'loss' ? [] : [[refusal, name]])),
) as Readonly<Record<string, CounterName>>
export const LIMIT_REFUSALS = [
  'rate_limit_exceeded',
  'concurrency_limit_exceeded',
  ...Object.keys(COUNTER_REFUSALS),
] as const

/** Clocks this far apart do not agree on a bucket any more, and are not held to. */
export const WRONG_CLOCK_MS = 59_000
const MINUTE_US = 60_000_000

/** The lanes of one key, and what all of them have let in together. */
export class LaneBooks {
  readonly admissions: Admission[] = []
  readonly moments: Moment[] = []
  /** The version that an operator was told that the key has. */
  toldVersion = 0
  /** Versions without an act: credits that went to a pool, and deals that requests have begun. */
  unsaid = 0
  deals = 0
  dealsOfRequests = 0
  readonly #items = new Map<string, StoredItem>()
  #deal: Deal | undefined

  get hasLanes(): boolean {
    return this.#items.values().some(({ deal }) => deal !== undefined)
  }

  written(item: StoredItem): void {
    const address = addressOf(item)
    const before = this.#items.get(address)
    if (before && Number(item.version) < Number(before.version)) fail(`${address} has a version that fell`)
    if (address === item.id && before) this.#lookAtDeal(item, before)
    const hasTaken = before && openHolds(item).size > openHolds(before).size
    if (this.#deal?.frozen && hasTaken) this.#deal.admittedSince += 1
    // The first lane that is opened: all that the others have taken is known, and nobody has taken more since.
    if (this.#deal && !this.#deal.frozen && before?.isClosed === true && item.isClosed === undefined)
      this.#deal.frozen = this.#lanes()
    this.#items.set(address, item)
    this.moments.push({ lanes: this.#lanes(), deal: this.#deal && { ...this.#deal } })
  }

  #lookAtDeal(item: StoredItem, before: StoredItem): void {
    const isNewDeal = item.deal !== before.deal
    const isPooled = before.accountId === undefined && item.accountId === item.id
    if (isNewDeal) {
      this.deals += 1
      this.#deal ??= { lanes: Number(before.lanes ?? 1), rpm: Number(before.rpm), admittedSince: 0 }
      if (termsOf(item) === termsOf(before)) {
        this.dealsOfRequests += 1
        this.unsaid += 1
      }
    } else if (item.dealing === undefined) {
      if (before.dealing !== undefined) checkParts(item, this.#lanes().slice(1))
      this.#deal = undefined
    }
    if (isPooled) this.unsaid += 1
  }

  #lanes(): readonly StoredItem[] {
    return [...this.#items.values()].sort((a, b) => laneOf(a) - laneOf(b))
  }

  /** Each lane has its own part of a minute; all together let no more in than one bucket and its refill, by whoever's clock. */
  checkRate(apartMs: number): void {
    if (apartMs >= WRONG_CLOCK_MS) return
    const { rpm } = this.admissions.at(-1) as Admission
    let [from, to, count] = [Infinity, -Infinity, 0]
    for (let i = this.admissions.length - 1; i >= 0; i--) {
      const one = this.admissions[i] as Admission
      // As for one item: a request whose clock is so far behind is let in by a bucket that it takes for a wrong one.
      if (one.rpm !== rpm || one.clockMs > from + WRONG_CLOCK_MS) return
      from = Math.min(from, one.clockMs)
      to = Math.max(to, one.clockMs)
      count += 1
      const most = rpm + ((to - from + apartMs) / 60_000) * rpm
      if (count > most) fail(`${count} requests in ${to - from} ms over all lanes, with ${rpm} a minute`)
    }
  }

  /**
   * A refusal of a limit is justified if at some moment of its request all lanes together had no room for it. Lanes that wait
   * for their part in a deal count with what was left to them, so that a deal justifies nothing; while lanes have different
   * terms, those that leave less are in force. A minute of which several lanes have less than a whole request left has no room.
   */
  checkRefusal(
    refusal: string,
    request: { readonly since: number; readonly until: number; readonly nowMs: number; readonly asked: bigint },
  ): void {
    const { since, until, nowMs, asked } = request
    const rooms = this.moments.slice(Math.max(0, since - 1), until).map((moment) => roomOf(moment, refusal, nowMs))
    if (rooms.every((room) => room >= asked)) {
      fail(`${this.#first.pk} was refused ${asked} (${refusal}), and had ${rooms.join(', ')} left`)
    }
  }

  get #first(): StoredItem {
    return this.#lanes()[0] as StoredItem
  }

  atRest(): void {
    if (!this.hasLanes) return
    const { pk, version, dealing, lanes = 1, lanesMade } = this.#first
    if (dealing !== undefined) fail(`${pk} still has a deal under way`)
    if (this.#items.size !== Number(lanesMade)) fail(`${pk} has ${this.#items.size} lanes, and knows of ${lanesMade}`)
    for (const item of this.#items.values()) {
      const isClosed = item.isClosed !== undefined
      if (item.version !== version) fail(`${item.pk} has version ${item.version}, and its key ${version}`)
      if (isClosed !== laneOf(item) >= Number(lanes))
        fail(`${item.pk} is ${isClosed ? 'closed' : 'open'}, of ${lanes} lanes`)
      if (isClosed && nano(item.available) > 0n) fail(`${item.pk} is closed, and has ${item.available}`)
      if (isClosed && openHolds(item).size > 0) fail(`${item.pk} is closed, and has holds`)
    }
  }
}

/** The parts of all lanes come to no more than the limit. A lane without a part has its share. */
function checkParts(first: StoredItem, others: readonly StoredItem[]): void {
  const count = BigInt((first.lanes as number | undefined) ?? 1)
  const lanes = [first, ...others].slice(0, Number(count))
  const counters = Object.entries(COUNTERS).filter(([, { counts }]) => counts !== 'loss')
  const limits = new Map([
    ['atOnce', 'maxConcurrent'],
    ...counters.map(([name, { stored }]) => [stored, name] as const),
  ])
  for (const name of new Set(lanes.flatMap(({ dealt }) => Object.keys(dealt as StoredItem)))) {
    const stored = first[limits.get(name.split(':')[0] as string) ?? '']
    if (stored === undefined) continue
    const limit = nano(stored)
    const parts = lanes.map(({ dealt }, i) => {
      const share = limit / count + (BigInt(i) < limit % count ? 1n : 0n)
      return nano((dealt as StoredItem)[name] ?? share)
    })
    const sum = parts.reduce((a, b) => a + b, 0n)
    if (sum > limit) fail(`${first.pk} has dealt out ${parts.join(' + ')} of ${limit} (${name})`)
  }
}

function roomOf(moment: Moment, refusal: string, nowMs: number): bigint {
  const { lanes } = moment
  if (refusal === 'rate_limit_exceeded') return BigInt(tokensIn(moment, nowMs))
  const least = (name: string) =>
    lanes
      .flatMap((lane) => (lane[name] === undefined ? [] : [nano(lane[name])]))
      .reduce((a, b) => (a < b ? a : b), 1n << 60n)
  if (refusal === 'concurrency_limit_exceeded') {
    return least('maxConcurrent') - BigInt(lanes.reduce((sum, lane) => sum + openHolds(lane).size, 0))
  }
  const name = COUNTER_REFUSALS[refusal] as CounterName
  const count = `${COUNTERS[name].stored}:${windowAt(name, nowMs)}`
  return least(name) - lanes.reduce((sum, lane) => sum + nano(lane[count]), 0n)
}

/** Whole requests that the buckets have. In a deal, those that they had when it began, less those that were let in since. */
function tokensIn({ lanes, deal }: Moment, nowMs: number): number {
  const { lanes: count = 1, rpm } = lanes[0] as StoredItem
  if (!deal) return sumOfTokens(lanes, Number(count), Number(rpm), nowMs)
  const { frozen = lanes, admittedSince } = deal
  const before = sumOfTokens(frozen, deal.lanes, deal.rpm, nowMs)
  return Math.min(before, sumOfTokens(frozen, deal.lanes, Number(rpm), nowMs)) - admittedSince
}

function sumOfTokens(lanes: readonly StoredItem[], count: number, rpm: number, nowMs: number): number {
  return lanes.slice(0, count).reduce((sum, { bucketFullAtUs }, i) => {
    const share = Math.floor(rpm / count) + (i < rpm % count ? 1 : 0)
    if (share === 0) return sum
    const used = Math.max(0, Number(bucketFullAtUs) - nowMs * 1000) / Math.ceil(MINUTE_US / share)
    return sum + Math.max(0, Math.floor(share - used))
  }, 0)
}

const MOVED: ReadonlySet<string> = new Set(['version', 'deal', 'isClosed', 'dealing', 'dealt', 'lanesMade', 'sweepAt'])

function termsOf(item: StoredItem): string {
  const terms = Object.entries(item).filter(([name]) => !MOVED.has(name) && name !== 'openHolds')
  return terms
    .map(([name, value]) => `${name} ${value}`)
    .sort()
    .join()
}

const addressOf = ({ pk }: StoredItem) => (pk as string).slice('KEY#'.length)
export const laneOf = (item: StoredItem) => Number(addressOf(item).split('.')[1] ?? 0)
