import { isDeepStrictEqual } from 'node:util'
import {
  COUNTER_NAMES,
  COUNTERS,
  type CounterName,
  type WindowKind,
} from '../../layers/gateway/domain/admission/counters.ts'
import { AccountBooks } from './account-books.ts'
import { type Admission, LaneBooks, WRONG_CLOCK_MS } from './lane-books.ts'
import { checkWatched, NoticeBooks } from './notice-books.ts'
import { momentOf, openHolds } from './stored-hold.ts'

export type StoredItem = Readonly<Record<string, unknown>>

export class Violation extends Error {
  override readonly name = 'Violation'
}

type Holds = ReadonlyMap<string, bigint>
/** The books of a key, or of one of its lanes. */
class Account {
  /** The key as it was left last, and the holds on it. */
  item: StoredItem | undefined
  open: Holds = new Map()
  /** Itself, and all other lanes of its key, which have these rows together. */
  readonly family: Account[]
  readonly lanes: LaneBooks
  readonly rows: Map<string, StoredItem>
  readonly admitted = new Set<string>()
  /** The tokens that each request has of its minute. */
  readonly tokens = new Map<string, bigint>()
  /** Losses that were taken before a route was asked, by day. */
  readonly risked = new Map<string, bigint>()
  /** The bound on loss that was in force when each request was admitted. */
  readonly bounds = new Map<string, bigint>()
  /** The models that the key might use when each request was admitted. */
  readonly models = new Map<string, readonly string[]>()
  /** The plan of the key when each request was admitted. */
  readonly plans = new Map<string, unknown>()
  readonly grants = new Map<string, StoredItem>()
  /** The hashes of the secrets that it was given, also of those that have ended. */
  readonly hashes = new Set<string>()
  /** True if it ever had an end. */
  hasEnd = false
  /** The events of an operator's changes to it, by the id of the act. */
  readonly events = new Map<string, StoredItem>()

  constructor(first?: Account) {
    this.family = first?.family ?? []
    this.lanes = first?.lanes ?? new LaneBooks()
    this.rows = first?.rows ?? new Map()
    this.family.push(this)
  }

  get admissions(): readonly Admission[] {
    return this.lanes.admissions
  }
}

const DAY_SECONDS = 24 * 60 * 60

const LIMITS = COUNTER_NAMES.filter((name) => COUNTERS[name].counts !== 'loss')
/** The bound of a key that has none of its own. */
const DAILY_LOSS = 1_000_000_000n

/** Looks at everything the database is left with, write by write, and knows by itself what may be there. */
export class Ledger {
  readonly notices = new NoticeBooks()
  readonly accounts = new AccountBooks()
  readonly #accounts = new Map<string, Account>()
  readonly #monthly = new Map<string, StoredItem>()
  /** The most by which clocks were ever apart. */
  apartMs = 0
  readonly #claims = new Map<string, { readonly expiresAt: number; readonly requests: Set<string> }>()

  get admissions(): number {
    return this.#accounts.values().reduce((sum, { admitted }) => sum + admitted.size, 0)
  }

  /** True while a request is open, or an item has an event that must be moved. */
  get hasWorkForSweeps(): boolean {
    const hasWork = this.#accounts.values().some(({ item, open }) => open.size > 0 || item?.sweepAt !== undefined)
    return hasWork || this.accounts.hasWorkForSweeps
  }

  /** An item of the keys table as a write with these values has left it: with the secret's hash for which it was made, if any. */
  keyWritten(item: StoredItem, values: StoredItem = {}): void {
    const hash = values[':hash'] as string | undefined
    const account = this.#account((item.pk as string).slice('KEY#'.length))
    const sk = item.sk as string
    if (sk.startsWith('GRANT#')) account.grants.set(sk, item)
    if (sk === 'ACCOUNT') this.accounts.poolWritten(item)
    if (sk !== 'KEY' && sk !== 'LANE') return
    if ((sk === 'KEY') !== (account === account.family[0])) fail(`${item.pk} has an item ${sk}`)
    checkStatus(item, account.item)
    checkRisk(item, account)
    if (sk === 'KEY' && account.item && isSameAgain(item, account.item)) account.lanes.unsaid += 1
    account.item = item
    account.hashes.add(item.currentHash as string)
    account.hasEnd ||= item.expiresAtMs !== undefined
    const before = account.open
    account.open = openHolds(item)
    account.lanes.written(item)
    for (const requestId of account.open.keys()) {
      if (before.has(requestId)) continue
      account.tokens.set(requestId, nano(values[':tokens']))
      admitted(item, account, requestId, hash, this.apartMs)
    }
    for (const requestId of before.keys()) {
      if (!account.open.has(requestId)) giveBackTokens(account, requestId, values[':tokensBack'])
    }
    if (account.open.size > 0 && item.sweepAt === undefined) fail(`${item.pk} has holds, and no sweep will look at it`)
    if (item.pendingEvents !== undefined && item.sweepAt !== '0') fail(`${item.pk} has events that no sweep will move`)
    checkWatched(item)
    checkBalance(item, account.open)
    checkRows(account)
    for (const name of LIMITS) checkCounter(item, account, name)
    checkLoss(item, account)
    this.accounts.purseWritten(item)
  }

  /** An event is written once, and so is its copy among those of its month. */
  eventWritten(item: StoredItem): void {
    const [of = '', id = ''] = [(item.pk as string).slice('EVENT#'.length), item.sk as string]
    // The catalog has no account.
    if (item.keyId === undefined) return
    const known = /^\d{4}-\d{2}$/.test(of) ? this.#monthly : this.#account(of).events
    const before = known.get(id)
    if (before && JSON.stringify(before) !== JSON.stringify(item)) fail(`the event ${id} was changed`)
    if (JSON.stringify(item).match(/[0-9a-f]{64}/)) fail(`the event ${id} has a hash`)
    known.set(id, item)
  }

  rowWritten(item: StoredItem): void {
    const requestId = item.requestId as string
    const account = this.#account(item.keyId as string)
    const before = account.rows.get(requestId)
    if (before && textOf(before) !== textOf(item)) {
      fail(`the row of ${requestId} was changed: ${textOf(before)} → ${textOf(item)}`)
    }
    if (nano(item.cost) > nano(item.hold)) fail(`${requestId} costs more than it held`)
    account.rows.set(requestId, item)
    checkRows(account)
    checkModels(item, account.models.get(requestId))
    checkPlan(item, account)
  }

  /** Requests that claim one Idempotency-Key: no more than one of them may be paid for. */
  claimWritten(item: StoredItem): void {
    const expiresAt = item.expiresAt as number
    const before = this.#claims.get(item.id as string)
    const isNew = !before || Number(expiresAt) - Number(before.expiresAt) > DAY_SECONDS
    const claims = isNew ? { expiresAt, requests: new Set<string>() } : before
    claims.requests.add(item.requestId as string)
    this.#claims.set(item.id as string, claims)
  }

  #paidOnce(): void {
    for (const { requests } of this.#claims.values()) {
      const paid = [...requests].filter((requestId) => {
        const { outcome, cost } = this.row(requestId) ?? {}
        return outcome === 'completed' && nano(cost) > 0n
      })
      if (paid.length > 1) fail(`one Idempotency-Key was paid for in ${paid.join(' and ')}`)
    }
  }

  row(requestId: string): StoredItem | undefined {
    return this.#accounts
      .values()
      .find(({ rows }) => rows.has(requestId))
      ?.rows.get(requestId)
  }

  /** The events and the grants that bear a name. */
  doneFor(by: string): { readonly events: readonly StoredItem[]; readonly grants: readonly StoredItem[] } {
    const accounts = [...this.#accounts.values()]
    const of = (items: Map<string, StoredItem>) => [...items.values()].filter((item) => item.by === by)
    return {
      events: accounts.flatMap(({ events }) => of(events)),
      grants: accounts.flatMap(({ grants }) => of(grants)),
    }
  }

  /** The models that a request's key might use when the request was admitted. */
  modelsFor(requestId: string): readonly string[] | undefined {
    return this.#accounts
      .values()
      .find(({ models }) => models.has(requestId))
      ?.models.get(requestId)
  }

  wasInForce(keyId: string, hash: string): boolean {
    return this.#account(keyId).hashes.has(hash)
  }

  /** True if a secret must open its key now, and must have since it was made. */
  opens(keyId: string, hash: string): boolean {
    const { item, hasEnd } = this.#account(keyId)
    return item?.status === 'active' && item.currentHash === hash && !hasEnd
  }

  lanesOf(keyId: string): LaneBooks {
    return this.#account(keyId).lanes
  }

  get families(): readonly LaneBooks[] {
    return [...new Set([...this.#accounts.values()].map(({ lanes }) => lanes))]
  }

  isRevoked(keyId: string): boolean {
    return this.#account(keyId).item?.status === 'revoked'
  }

  isOpen(keyId: string, requestId: string): boolean {
    return this.#account(keyId).family.some(({ open }) => open.has(requestId))
  }

  /** True while a request of the day is open. */
  hasOpenHold(keyId: string, day: string): boolean {
    const open = this.#account(keyId).family.flatMap((lane) => [...lane.open.keys()])
    return open.some((requestId) => utcDay(momentOf(requestId)) === day)
  }

  wasAdmitted(keyId: string, requestId: string): boolean {
    return this.#account(keyId).family.some(({ admitted }) => admitted.has(requestId))
  }

  /** How often somebody was let in with a key. */
  admissionsOf(keyId: string): number {
    return this.#account(keyId).family.reduce((sum, { admitted }) => sum + admitted.size, 0)
  }

  /** When nothing is under way any more. */
  atRest(): void {
    this.#paidOnce()
    for (const [keyId, account] of this.#accounts) {
      const { item, open, admitted, rows, grants, events, lanes } = account
      for (const requestId of admitted) if (!rows.has(requestId)) fail(`${requestId} was admitted and has no row`)
      if (open.size > 0) fail(`${keyId} still has the holds ${[...open.keys()].join(', ')}`)
      if (account !== account.family[0]) continue
      lanes.atRest()
      if (item) this.#eachChangeHasItsEvent(keyId, item, account)
      if (item?.pendingEvents !== undefined) fail(`${keyId} still has an event on its item`)
      if (item) this.notices.atRest(keyId, item, grants.size, events)
      const granted = this.#grantsOf(keyId)
      const isAlone = item && item.accountId === undefined
      if (isAlone && nano(item.granted) !== granted) fail(`${keyId} has ${item.granted}, and grants of ${granted}`)
    }
    this.accounts.atRest((id) => this.#grantsOf(id))
  }

  #grantsOf(id: string): bigint {
    return this.#account(id)
      .grants.values()
      .reduce((sum, { credits }) => sum + nano(credits), 0n)
  }

  /** A change raises the version by one, except for a grant, which has an item of its own. */
  #eachChangeHasItsEvent(keyId: string, item: StoredItem, { grants, events, lanes }: Account): void {
    const granting = [...events].filter(([, { what }]) => what === 'key.grant').map(([id]) => id)
    if (events.size - granting.length + lanes.unsaid !== item.version) {
      fail(`${keyId} has version ${item.version}, and ${events.size - granting.length} events that changed it`)
    }
    const created = [...events].filter(([, { what }]) => what === 'key.create').map(([id]) => id)
    const granted = [...grants.keys()].map((sk) => sk.slice('GRANT#'.length)).filter((id) => !created.includes(id))
    if (granted.sort().join() !== granting.sort().join()) fail(`${keyId} has grants that are not its events of grants`)
    for (const id of events.keys()) if (!this.#monthly.has(id)) fail(`the event ${id} is not among those of its month`)
  }

  #account(keyId: string): Account {
    const known = this.#accounts.get(keyId)
    if (known) return known
    const at = keyId.indexOf('.')
    const account = new Account(at < 0 ? undefined : this.#account(keyId.slice(0, at)))
    this.#accounts.set(keyId, account)
    return account
  }
}

function admitted(
  key: StoredItem,
  account: Account,
  requestId: string,
  hash: string | undefined,
  apartMs: number,
): void {
  const clockMs = momentOf(requestId)
  const { family, lanes } = account
  if (family.some((lane) => lane.admitted.has(requestId))) fail(`${requestId} was admitted twice`)
  account.admitted.add(requestId)
  account.bounds.set(requestId, BigInt((key.dailyLoss as bigint) ?? DAILY_LOSS))
  account.models.set(requestId, key.models as readonly string[])
  account.plans.set(requestId, key.plan)
  const isCurrent = key.currentHash === hash
  const isInGrace = key.previousHash === hash && Number(key.previousUntilMs) > clockMs
  if (hash === undefined || key.status !== 'active' || !(isCurrent || isInGrace)) {
    fail(`${requestId} was admitted with a secret that had ended`)
  }
  if (key.expiresAtMs !== undefined && Number(key.expiresAtMs) <= clockMs) {
    fail(`${requestId} was admitted at ${clockMs}, and its key expired at ${key.expiresAtMs}`)
  }
  if (Number(key.version) < lanes.toldVersion) {
    fail(`${requestId} was admitted by version ${key.version} of ${key.pk}, and ${lanes.toldVersion} was told`)
  }
  const concurrent = family.reduce((sum, { open }) => sum + open.size, 0)
  if (concurrent > Number(key.maxConcurrent)) fail(`${concurrent} at once, of ${key.maxConcurrent}`)
  // A window that later requests have made the key forget is open again to one that has waited for so long.
  const farMs = Math.max(apartMs, ...lanes.admissions.map((one) => one.clockMs - clockMs))
  for (const name of LIMITS) if (farMs <= KEPT_MS[COUNTERS[name].within]) checkLimit(key, account, name, requestId)
  lanes.admissions.push({ requestId, clockMs, rpm: Number(key.rpm) })
  if (lanes.hasLanes) lanes.checkRate(apartMs)
  else checkRate(account.admissions)
}

/** A request that died keeps what it took: nobody knows what of it was used. */
function giveBackTokens({ tokens, rows }: Account, requestId: string, back: unknown): void {
  if (back === undefined) return
  const [taken, row] = [tokens.get(requestId) ?? 0n, rows.get(requestId)]
  const used = nano(row?.promptTokens) + nano(row?.completionTokens)
  const left = taken > used ? taken - used : 0n
  if (nano(back) !== left) fail(`${requestId} took ${taken} tokens, used ${used}, and gives back ${back}`)
  tokens.set(requestId, taken - left)
}

/** A request that takes nothing of a counter is never beyond its limit. */
function checkLimit(key: StoredItem, account: Account, name: CounterName, requestId: string): void {
  const [window, limit] = [windowAt(name, momentOf(requestId)), key[name]]
  const count = account.family.reduce((sum, lane) => sum + (countedIn(lane, name).get(window) ?? 0n), 0n)
  const isFree = worthOf(account, name, requestId) === 0n
  if (limit !== undefined && !isFree && count > nano(limit)) fail(`${count} in ${window}, of ${limit} (${name})`)
}

/** A counter is the sum of what its window's requests took, unless no clock can ask for that window any more. */
function checkCounter(item: StoredItem, account: Account, name: CounterName): void {
  const latestMs = Math.max(...account.admissions.map(({ clockMs }) => clockMs))
  for (const [window, count] of countedIn(account, name)) {
    const kept = item[`${COUNTERS[name].stored}:${window}`]
    if (window >= windowAt(name, latestMs - KEPT_MS[COUNTERS[name].within]) && nano(kept) !== count) {
      fail(`${item.pk} has counted ${kept} in ${window}, and it was ${count} (${name})`)
    }
  }
}

const lossesOf = (item: StoredItem) =>
  Object.entries(item).flatMap(([name, value]) => (/^l:/.test(name) ? [[name.slice(2), nano(value)] as const] : []))

/** A loss that grows while no request begins or ends is risked before a route is asked, and within the bound. */
function checkRisk(item: StoredItem, { item: before, open, risked, bounds }: Account): void {
  if (!before || [...openHolds(item).keys()].join() !== [...open.keys()].join()) return
  for (const [day, loss] of lossesOf(item)) {
    const grown = loss - nano(before[`l:${day}`])
    if (grown === 0n) continue
    const bound = [...open.keys()].map((requestId) => bounds.get(requestId) ?? 0n).reduce((a, b) => (a > b ? a : b), 0n)
    if (loss > bound) fail(`${item.pk} risks ${grown} more on ${day}, which makes ${loss} of ${bound}`)
    risked.set(day, (risked.get(day) ?? 0n) + grown)
  }
}

/** The loss of a day is that of its rows. A risk stays with it if its request died. */
function checkLoss(item: StoredItem, account: Account): void {
  const { open, risked, admissions } = account
  const latestMs = Math.max(0, ...admissions.map(({ clockMs }) => clockMs))
  const sums = new Map<string, bigint>()
  for (const [requestId, { loss = 0n }] of rowsOf(account)) {
    const day = utcDay(momentOf(requestId))
    if (!open.has(requestId)) sums.set(day, (sums.get(day) ?? 0n) + nano(loss))
  }
  for (const [day, sum] of sums) {
    if (day < utcDay(Math.max(0, latestMs - DAY_SECONDS * 1000))) continue
    const kept = nano(item[`l:${day}`])
    if (kept < sum || kept > sum + (risked.get(day) ?? 0n))
      fail(`${item.pk} has lost ${kept} on ${day}, its rows ${sum}`)
  }
}

function countedIn(account: Account, name: CounterName): Map<string, bigint> {
  const counted = new Map<string, bigint>()
  for (const requestId of account.admitted) {
    const window = windowAt(name, momentOf(requestId))
    counted.set(window, (counted.get(window) ?? 0n) + worthOf(account, name, requestId))
  }
  return counted
}

/** One, or the credits that a request holds, or its tokens; when it has ended, those that it cost. */
function worthOf({ open, rows, tokens }: Account, name: CounterName, requestId: string): bigint {
  if (COUNTERS[name].counts === 'requests') return 1n
  if (COUNTERS[name].counts === 'tokens') return tokens.get(requestId) ?? 0n
  return open.get(requestId) ?? nano(rows.get(requestId)?.cost)
}

export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length)
}

/** The ledger's own reckoning of each kind of window. Clocks that are further apart than it is kept are not held to it. */
const WINDOWS: Readonly<Record<WindowKind, (ms: number) => string>> = {
  minute: (ms) => Math.trunc(ms / 60_000).toString(36),
  day: utcDay,
  month: (ms) => utcDay(ms).slice(0, 'yyyy-mm'.length),
}
const KEPT_MS: Readonly<Record<WindowKind, number>> = {
  minute: 120_000,
  day: DAY_SECONDS * 1000,
  month: DAY_SECONDS * 1000,
}

export function windowAt(name: CounterName, ms: number): string {
  return WINDOWS[COUNTERS[name].within](ms)
}

/** From any admission to the newest there were no more than a bucket and its refill. */
function checkRate(admissions: readonly Admission[]): void {
  const last = admissions.at(-1) as Admission
  let later = last
  for (let i = admissions.length - 1; i >= 0; i--) {
    const one = admissions[i] as Admission
    if (one.rpm !== last.rpm || one.clockMs > later.clockMs + WRONG_CLOCK_MS) return
    const count = admissions.length - i
    const most = last.rpm + ((last.clockMs - one.clockMs) / 60_000) * last.rpm
    if (count > most) fail(`${count} requests in ${last.clockMs - one.clockMs} ms, with ${last.rpm} a minute`)
    later = one
  }
}

/** A write that raises the version and finds everything as it is to be: it has no event. */
function isSameAgain(item: StoredItem, before: StoredItem): boolean {
  const { version, sweepAt, statusVersion, ...rest } = item
  const { version: earlier, sweepAt: _, statusVersion: __, ...same } = before
  // A key that is suspended by itself keeps that its account is, too.
  const [now, then] = [rest, same].map((one) => ({ ...one, isWithAccount: one.isWithAccount || undefined }))
  return version !== earlier && isDeepStrictEqual(now, then)
}

/** A revoke is final, and an event says what has become of its key. */
function checkStatus({ pk, status, pendingEvents = [] }: StoredItem, before: StoredItem | undefined): void {
  if (before?.status === 'revoked' && status !== 'revoked') fail(`${pk} was revoked, and is ${status}`)
  const said = (pendingEvents as { after: StoredItem }[]).findLast(({ after }) => after.status !== undefined)?.after
  if (said && said.status !== status) fail(`${pk} is ${status}, and its event says ${said.status}`)
}

function checkBalance({ pk, granted, available, spent }: StoredItem, holds: Holds): void {
  let held = 0n
  for (const amount of holds.values()) held += amount
  if (nano(granted) !== nano(available) + held + nano(spent)) {
    fail(`${pk}: ${granted} granted, but ${available} available + ${held} held + ${spent} spent`)
  }
  if ((available as bigint) < 0) fail(`${pk} has ${available} available`)
  if ((spent as bigint) < 0) fail(`${pk} has spent ${spent}`)
}

/** Rows whose hold is open are not charged yet; all others are, once. */
function checkRows(account: Account): void {
  const { item, open } = account
  if (!item) return
  let sum = 0n
  for (const [requestId, row] of rowsOf(account)) if (!open.has(requestId)) sum += nano(row.cost)
  if (sum !== nano(item.spent)) fail(`${item.pk} has spent ${item.spent}, but its rows cost ${sum}`)
}

/** Those of the requests that this lane let in. The first one has those that nobody let in. */
function rowsOf(account: Account): readonly (readonly [string, StoredItem])[] {
  const { family, rows } = account
  if (family.length === 1) return [...rows]
  const others = family.filter((lane) => lane !== account)
  return account === family[0]
    ? [...rows].filter(([requestId]) => !others.some(({ admitted }) => admitted.has(requestId)))
    : [...rows].filter(([requestId]) => account.admitted.has(requestId))
}

/** Nothing is held for a model that its key may not use, no such model answers, and no other is refused so. */
function checkModels(
  { requestId, model, fallbackModel, hold, errorCode }: StoredItem,
  allowed?: readonly string[],
): void {
  if (!allowed || model === undefined) return
  const isAllowed = isAmong(allowed, model)
  if (!isAllowed && nano(hold) > 0n) fail(`${requestId} held credits for ${model}, of ${allowed}`)
  if (fallbackModel !== undefined && !isAmong(allowed, fallbackModel)) fail(`${requestId} got ${fallbackModel}`)
  if (isAllowed && errorCode === 'model_not_allowed') fail(`${requestId} was refused ${model}, of ${allowed}`)
}

/** A row that the sweep wrote knows of no price. */
function checkPlan({ requestId, model, outcome, plan }: StoredItem, { plans }: Account): void {
  if (model === undefined || outcome === 'abandoned' || !plans.has(requestId as string)) return
  const wanted = plans.get(requestId as string)
  if (plan !== wanted) fail(`${requestId} was priced by the plan ${plan}, and its key had ${wanted}`)
}

export function isAmong(allowed: readonly string[], model: unknown): boolean {
  return allowed.length === 0 || allowed.some((one) => new RegExp(`^${one.replaceAll('*', '.*')}$`).test(String(model)))
}

function textOf(item: StoredItem): string {
  return `${item.outcome} ${item.cost}`
}

/** Nanocredits as they are stored; a figure that is zero may be left out. */
export function nano(stored: unknown): bigint {
  return BigInt((stored as bigint | undefined) ?? 0)
}

export function fail(what: string): never {
  throw new Violation(what)
}
