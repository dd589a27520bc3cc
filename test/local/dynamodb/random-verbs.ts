import type { AnswerClaim } from '../../../layers/gateway/domain/admission/idempotency.ts'
import { DAY_MS } from '../../../layers/gateway/domain/basics/time.ts'
import { makeRequestId } from '../../../layers/gateway/domain/basics/ulid.ts'
import { ACT_MS, type Act, newAct, timeLeft } from '../../../layers/gateway/domain/keys/act.ts'
import type { Hold, Key, Secret } from '../../../layers/gateway/domain/keys/key.ts'
import type { KeySettings, SettingChanges } from '../../../layers/gateway/domain/keys/key-settings.ts'
import { KEY_DEFAULTS, newKey } from '../../../layers/gateway/domain/keys/new-key.ts'
import type { CatalogData } from '../../../layers/gateway/domain/routing/catalog.ts'
import type { UsageRow } from '../../../layers/gateway/domain/rows/usage-row.ts'
import { releaseHold } from '../../../layers/gateway/store/admission/release-hold.ts'
import { findKeysToSweep, scheduleSweep } from '../../../layers/gateway/store/admission/sweep.ts'
import { takeAdmission } from '../../../layers/gateway/store/admission/take-admission.ts'
import { listCatalogVersions, readStoredCatalog } from '../../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../../layers/gateway/store/catalog/write-catalog.ts'
import type { Tables } from '../../../layers/gateway/store/dynamodb/tables.ts'
import { listEvents } from '../../../layers/gateway/store/events/list-events.ts'
import { answerStore } from '../../../layers/gateway/store/idempotency/answers.ts'
import { createKey } from '../../../layers/gateway/store/keys/create-key.ts'
import { findByExternalId } from '../../../layers/gateway/store/keys/external-id.ts'
import { grantCredits } from '../../../layers/gateway/store/keys/grant-credits.ts'
import { findKeyId, listKeys, readKey } from '../../../layers/gateway/store/keys/read-key.ts'
import { endGrace, revokeKey, rotateKey } from '../../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../../layers/gateway/store/keys/update-key.ts'
import { putUsageRow, queryUsageRows, readUsageRow } from '../../../layers/gateway/store/rows/usage-rows.ts'
import type { Random } from '../../simulation/random.ts'
import { completedRow } from '../../support/completed-row.ts'

/** So late that nothing has expired by the clock of the machine, by which Amazon's database deletes. */
const START = Date.UTC(2096, 10, 15, 23, 50)

/** The store's own verbs, with arguments of every kind: fresh and stale, right and wrong, once and again. */
export class RandomVerbs {
  private readonly tables: Tables
  private readonly random: Random
  private readonly keys: Key[] = []
  private readonly hashes: string[] = ['unknown']
  private readonly requests: { keyId: string; requestId: string; hold: Hold }[] = []
  private nowMs = START
  private serial = 0
  private readonly lastActs = new Map<string, Act>()

  constructor(tables: Tables, random: Random) {
    this.tables = tables
    this.random = random
  }

  async step(): Promise<void> {
    const { random } = this
    this.nowMs += random.chance(0.02) ? DAY_MS : random.below(5_000)
    if (this.keys.length === 0 || random.chance(0.04)) return this.create()
    const verbs = [
      ...Array.from({ length: 8 }, () => () => this.admit()),
      ...Array.from({ length: 3 }, () => () => this.release()),
      ...Array.from({ length: 3 }, () => () => this.record()),
      () => this.look(),
      () => this.look(),
      () => this.operate(),
      () => this.claim(),
      () => this.claim(),
    ]
    await random.pick(verbs)()
  }

  private async create(): Promise<void> {
    const { random, nowMs } = this
    const again = this.keys.length > 0 && random.chance(0.2)
    const stored = this.anySecret()
    const credits = random.pick([0n, 1_000n, 10n ** 9n, 2n ** 53n + 1n, 10n ** 30n])
    const settings = { ...KEY_DEFAULTS, name: 'random', ...this.settings() }
    const key = again
      ? random.pick(this.keys)
      : newKey({ settings, credits, prefix: 'svc_', stored }, nowMs, random.bytes(10))
    this.keys.push(key)
    await createKey(this.tables)(key, this.act(key.id))
  }

  private async admit(): Promise<void> {
    const { random, nowMs } = this
    const known = random.pick(this.keys)
    const again = this.requests.length > 0 && random.chance(0.1)
    const asked = again ? random.pick(this.requests) : undefined
    const requestId = asked?.requestId ?? makeRequestId(nowMs, random.bytes(10))
    const amount = random.pick([0n, 1n, 300n, 10n ** 6n, known.available, known.available + 1n])
    const hold = asked?.hold ?? { amount, untilMs: nowMs + 60_000 }
    const hash = random.chance(0.8) ? known.current.hash : random.pick([known.previous?.hash ?? '', ...this.hashes])
    const returned = random.pick(['ALL_NEW', 'UPDATED_NEW'] as const)
    const result = await takeAdmission(this.tables, returned)(known, {
      requestId,
      hash,
      nowMs,
      hold: hold.amount,
      holdUntilMs: hold.untilMs,
    })
    // Apart by a millisecond, since keys to be swept at the same moment have no order in the index.
    this.nowMs += 1
    if (result.admitted) this.requests.push({ keyId: known.id, requestId, hold })
    if (result.key && random.chance(0.8)) this.keys[this.keys.indexOf(known)] = result.key
  }

  private async release(): Promise<void> {
    const { random } = this
    const request = this.requests.length > 0 ? random.pick(this.requests) : this.unknownRequest()
    const { amount } = request.hold
    const cost = random.pick([0n, amount, amount / 2n])
    const keyId = random.chance(0.95) ? request.keyId : random.pick(this.keys).id
    await releaseHold(this.tables)({ ...request, keyId, cost })
  }

  private unknownRequest() {
    const requestId = makeRequestId(this.nowMs, this.random.bytes(10))
    return { keyId: 'none', requestId, hold: { amount: 5n, untilMs: this.nowMs } }
  }

  private async record(): Promise<void> {
    const { random, nowMs } = this
    const request = this.requests.length > 0 ? random.pick(this.requests) : undefined
    const row: UsageRow = {
      ...completedRow({
        requestId: request?.requestId ?? this.unknownRequest().requestId,
        keyId: request?.keyId ?? random.pick(this.keys).id,
        startedAtMs: nowMs,
        cost: random.pick([0n, 5n, 2n ** 60n]),
        hold: request?.hold.amount ?? 0n,
      }),
      outcome: random.pick(['completed', 'refused', 'abandoned']),
      httpStatus: random.pick([200, 429, 502]),
      errorCode: random.pick([undefined, 'upstream_error']),
      model: random.pick([undefined, 'model']),
      stream: random.chance(0.5),
      promptTokens: random.below(100),
      attempts: random.pick([[], [{ provider: 'up', model: 'm', result: 'ok', ms: 3 }]]),
      ttftMs: random.pick([undefined, 12]),
    }
    // Apart by a millisecond, since rows of the same moment have no order in the index.
    this.nowMs += 1
    await putUsageRow(this.tables)(row)
  }

  private async look(): Promise<void> {
    const { random, tables, nowMs } = this
    const { id } = random.pick(this.keys)
    const range = { fromMs: nowMs - random.below(2 * DAY_MS), toMs: nowMs }
    const order = random.pick(['newest first', 'oldest first'] as const)
    const looks: (() => Promise<unknown>)[] = [
      () => drain(listEvents(tables)({ of: random.pick([id, undefined]), ...range })),
      () => drain(listCatalogVersions(tables)()),
      () => findByExternalId(tables)(random.pick(['one', 'two', 'none'])),
      () => drain(listKeys(tables)()),
      () => drain(queryUsageRows(tables)(id, range, order)),
      () => findKeyId(tables)(random.pick(this.hashes)),
      () => readUsageRow(tables)(this.requests.at(-1)?.requestId ?? 'none'),
      () => readStoredCatalog(tables)(),
      () => drain(findKeysToSweep(tables)(nowMs + random.pick([0, 30_000, DAY_MS]))),
      () => scheduleSweep(tables)(random.pick(this.keys), nowMs),
      async () => this.refresh(await readKey(tables)(random.chance(0.9) ? id : 'none')),
    ]
    await random.pick(looks)()
  }

  private async claim(): Promise<void> {
    const { random, tables, nowMs } = this
    const claim: AnswerClaim = {
      id: `answer_${random.below(5)}`,
      requestId: `req_${random.below(4)}`,
      secretHash: random.pick(this.hashes),
      bodyPrint: 'print',
      untilMs: nowMs + 60_000,
    }
    const answers = answerStore(tables)
    const other = random.chance(0.3) ? `req_${random.below(4)}` : undefined
    const take = () => answers.claim(claim, nowMs, other)
    const keep = () => answers.keep(claim, random.chance(0.7) ? random.bytes(20) : undefined)
    await random.pick<() => Promise<unknown>>([keep, () => answers.drop(claim), take, take])()
  }

  private async operate(): Promise<void> {
    const { random, tables } = this
    const { id } = random.chance(0.95) ? random.pick(this.keys) : { id: 'none' }
    const act = this.act(id)
    const catalog = { providers: {}, models: [] } as unknown as CatalogData
    const expectedVersion = random.pick([undefined, undefined, 1, 2])
    const often: (() => Promise<unknown>)[] = [
      () => endGrace(tables)(id, act),
      () => updateKey(tables)(id, this.changes(), act),
      () => grantCredits(tables)(id, random.pick([1n, 10n ** 9n, 2n ** 60n]), act),
      () => rotateKey(tables)(id, this.newSecret(), act),
    ]
    const seldom = [
      () => revokeKey(tables)(id, act),
      () => writeCatalog(tables)(catalog, this.act('catalog'), { expectedVersion }),
    ]
    await random.pick([...often, ...often, ...seldom])()
  }

  private settings(): Partial<KeySettings> {
    const { random } = this
    return {
      rpm: random.pick([1, 60, 7_000]),
      ...(random.chance(0.5) && { dailyLimit: random.pick([1, 5, 10_000]) }),
      ...(random.chance(0.5) && { maxConcurrent: random.pick([1, 3, 200]) }),
      ...(random.chance(0.2) && { allowlist: ['10.0.0.0/8'] }),
    }
  }

  private changes(): SettingChanges {
    const { random, nowMs } = this
    return {
      ...this.settings(),
      ...(random.chance(0.5) && { externalId: random.pick(['one', 'two', 'three', null]) }),
      ...(random.chance(0.3) && { expiresAtMs: random.pick([nowMs + 2_000, nowMs + DAY_MS, null]) }),
      ...(random.chance(0.3) && { note: random.pick(['a note', null]) }),
    }
  }

  /** Now and then one that was done already, to the same thing: to another one it would try until its time is over. */
  private act(to: string): Act {
    const { random, nowMs } = this
    const last = this.lastActs.get(to)
    if (last && random.chance(0.4)) return last
    const act = newAct('test', nowMs, random.bytes(10), timeLeft(ACT_MS, Date.now))
    this.lastActs.set(to, act)
    // Apart by a millisecond, so that the events of a month have the same order on both sides.
    this.nowMs += 1
    return act
  }

  /** Now and then one that another key has already. */
  private anySecret(): Secret {
    return this.random.chance(0.9) ? this.newSecret() : { hash: this.random.pick(this.hashes), lastFour: 'same' }
  }

  private newSecret(): Secret {
    const hash = this.next('hash')
    this.hashes.push(hash)
    return { hash, lastFour: hash.slice(-4) }
  }

  private refresh(key: Key | undefined): void {
    const at = this.keys.findIndex(({ id }) => id === key?.id)
    if (key) this.keys[at] = key
  }

  private next(kind: string): string {
    this.serial += 1
    return `${kind}_${this.serial}`
  }
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}
