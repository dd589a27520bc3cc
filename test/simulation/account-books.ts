import { fail, nano, type StoredItem } from './ledger.ts'
import { openHolds } from './stored-hold.ts'

type Mark = { readonly out: bigint; readonly seen: bigint }
type Pool = {
  item: StoredItem
  marks: ReadonlyMap<string, Mark>
  /** All that the account could spend, wherever it was, with the time since when. */
  readonly totals: { readonly sinceMs: number; readonly total: bigint }[]
}
type Purse = { item: StoredItem; holds: ReadonlyMap<string, bigint>; heldEver: bigint }
type Sums = { flight: bigint; available: bigint; held: bigint; spent: bigint }

/** Accounts and all of their purses, also of those that are gone, write by write. */
export class AccountBooks {
  readonly #pools = new Map<string, Pool>()
  readonly #purses = new Map<string, Purse>()
  /** The least that each request has asked for. */
  readonly #asked = new Map<string, bigint>()
  readonly #changed = new Set<string>()

  get hasWorkForSweeps(): boolean {
    return this.#pools.values().some(({ item }) => item.sweepAt !== undefined)
  }

  accountOf(keyId: string): string | undefined {
    return this.#purses.get(keyId)?.item.accountId as string | undefined
  }

  /** The status of an account, and the version with which it was set. */
  statusOf(id: string): { readonly status: unknown; readonly version: number } | undefined {
    const item = this.#pools.get(id)?.item
    return item && { status: item.status, version: Number(item.statusVersion) }
  }

  /** The least that a request has asked for. */
  askedBy(requestId: string): bigint | undefined {
    return this.#asked.get(requestId)
  }

  holdAsked(requestId: string, hold: bigint): void {
    const before = this.#asked.get(requestId)
    if (hold > 0n && (before === undefined || hold < before)) this.#asked.set(requestId, hold)
  }

  poolWritten(item: StoredItem): void {
    const pool = this.#pools.get(item.id as string)
    const marks = marksIn(item)
    for (const [keyId, { out, seen }] of pool?.marks ?? []) {
      const mark = marks.get(keyId)
      if (mark && (mark.out < out || mark.seen < seen)) fail(`${item.id} has a mark of ${keyId} that fell`)
    }
    if (pool) Object.assign(pool, { item, marks })
    else this.#pools.set(item.id as string, { item, marks, totals: [] })
    this.#changed.add(item.id as string)
  }

  purseWritten(item: StoredItem): void {
    if (item.accountId === undefined) return
    const holds = openHolds(item)
    const keyId = addressOf(item)
    const purse = this.#purses.get(keyId)
    // A key that joins has held what it holds and what it has spent.
    const heldBefore = purse?.heldEver ?? nano(item.spent)
    const taken = [...holds].filter(([requestId]) => !purse?.holds.has(requestId))
    const heldEver = taken.reduce((sum, [, amount]) => sum + amount, heldBefore)
    if (nano(item.heldEver) !== heldEver) fail(`${keyId} has held ${item.heldEver} ever, and it was ${heldEver}`)
    if (nano(item.drawn) < nano(item.granted)) fail(`${keyId} has ${item.granted}, and was given ${item.drawn}`)
    if (purse && (nano(item.drawn) < nano(purse.item.drawn) || backOf(item) < backOf(purse.item))) {
      fail(`${keyId} has a mark that fell`)
    }
    this.#purses.set(keyId, { item, holds, heldEver })
    this.#changed.add(item.accountId as string)
  }

  /** After each write, of which a transaction may have several. */
  check(nowMs: number): void {
    for (const id of this.#changed) {
      const pool = this.#pools.get(id)
      if (pool) this.#checkPool(id, pool, nowMs)
    }
    this.#changed.clear()
  }

  #checkPool(id: string, { item, marks, totals }: Pool, nowMs: number): void {
    const [granted, available] = [nano(item.granted), nano(item.available)]
    const sums = this.#sumsOf(id, marks)
    let out = nano(item.retired)
    for (const mark of marks.values()) out += mark.out - mark.seen
    if (available < 0n) fail(`${id} has ${available} in its pool`)
    if (granted !== available + out) fail(`${id}: ${granted} granted, but ${available} in its pool + ${out} given out`)
    const outside = sums.flight + sums.available + sums.held
    if (granted !== available + outside + sums.spent) {
      fail(`${id}: ${granted} granted, but ${available} in its pool + ${outside} outside + ${sums.spent} spent`)
    }
    if (outside > 0n && item.sweepAt === undefined)
      fail(`${id} has ${outside} outside its pool, and no sweep will look`)
    if (Number(item.keyCount) !== marks.size) fail(`${id} counts ${item.keyCount} keys, and has ${marks.size}`)
    totals.push({ sinceMs: nowMs, total: granted - sums.held - sums.spent })
  }

  #sumsOf(id: string, marks: Pool['marks']): Sums {
    const sums = { flight: 0n, available: 0n, held: 0n, spent: 0n }
    for (const { item, holds } of this.#pursesOf(id)) {
      const [drawn, back, available] = [nano(item.drawn), backOf(item), nano(item.available)]
      const mark = marks.get(addressOf(item))
      if (mark && (mark.out < drawn || mark.seen > back)) fail(`${item.id} is ahead of the marks of its account`)
      if (!mark && (available > 0n || holds.size > 0)) fail(`${item.id} has credits or requests, and ${id} forgot it`)
      if (mark) sums.flight += mark.out - drawn + back - mark.seen
      sums.available += available
      for (const amount of holds.values()) sums.held += amount
      sums.spent += nano(item.spent)
    }
    return sums
  }

  #pursesOf(id: string): Purse[] {
    return [...this.#purses.values()].filter(({ item }) => item.accountId === id)
  }

  /** The least that the account could spend at any moment since then. */
  leastSince(id: string, sinceMs: number): bigint {
    const totals = this.#pools.get(id)?.totals ?? []
    const first = totals.findLastIndex((moment) => moment.sinceMs < sinceMs)
    return totals.slice(Math.max(0, first)).reduce((least, { total }) => (total < least ? total : least), 1n << 60n)
  }

  /** A refusal is true if at some moment of its request there was less than was asked for. */
  checkRefusal(requestId: string, least: bigint): void {
    const asked = this.#asked.get(requestId)
    if (asked !== undefined && least >= asked) {
      fail(`${requestId} asked for ${asked} and was refused, and there were ${least} all the time`)
    }
  }

  /** After sweeps: all that is not spent is in the pool, and a closed account has no keys. */
  atRest(sumOfGrants: (id: string) => bigint): void {
    for (const [id, { item, marks }] of this.#pools) {
      const sums = this.#sumsOf(id, marks)
      if (sums.flight > 0n) fail(`${id} still has ${sums.flight} under way`)
      if (sums.available > 0n) fail(`${id} still has ${sums.available} in its purses`)
      if (nano(item.granted) !== sumOfGrants(id)) fail(`${id} has ${item.granted}, and grants of ${sumOfGrants(id)}`)
      if (item.sweepAt !== undefined) fail(`${id} is swept for ever`)
      for (const { item: key } of item.status === 'revoked' ? this.#pursesOf(id) : []) {
        if (key.status !== 'revoked') fail(`${id} is closed, and its key ${key.id} is ${key.status}`)
        if (marks.has(addressOf(key))) fail(`${id} is closed, and its key ${key.id} is not gone`)
      }
    }
  }
}

function backOf({ drawn, granted }: StoredItem): bigint {
  return nano(drawn) - nano(granted)
}

/** A lane of a key is a purse of its own. */
function addressOf({ pk }: StoredItem): string {
  return (pk as string).slice('KEY#'.length)
}

function marksIn(item: StoredItem): ReadonlyMap<string, Mark> {
  const keyIds = Object.keys(item).flatMap((name) => (name.startsWith('out:') ? [name.slice('out:'.length)] : []))
  return new Map(keyIds.map((id) => [id, { out: nano(item[`out:${id}`]), seen: nano(item[`seen:${id}`]) }]))
}
