import { ACT_MS, type Act, newAct, timeLeft } from '../../layers/gateway/domain/keys/act.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import type { ContractName } from '../../layers/gateway/endpoints.ts'
import { CATALOG_HEAD, ITEMS, TABLES, USAGE_ITEMS } from '../../layers/gateway/names.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { hashItem, keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { DAY_SUMS } from '../../layers/gateway/store/rows/day-totals.ts'
import { HOUR_SUMS } from '../../layers/gateway/store/rows/hour-sums.ts'
import { sdkDatabase } from '../support/sdk-database.ts'
import { type Customer, type Desk, openCustomer, openKey, operateAccount } from './account-operator.ts'
import { type Account, type Asked, askAdmin, type Office, type ToldStatus } from './admin-caller.ts'
import { CatalogBooks } from './catalog-books.ts'
import { catalogOf, FACTORS, type Factor } from './catalogs.ts'
import { checkAsked, checkReferences } from './check-asked.ts'
import { checkCoverage, checkLossOf } from './check-coverage.ts'
import { comesTooLate } from './comes-too-late.ts'
import type { Input, Variant } from './commands.ts'
import { DayBooks } from './day-books.ts'
import { DynamoModel } from './dynamodb/dynamodb-model.ts'
import { modelClient } from './dynamodb/model-client.ts'
import { itemName } from './dynamodb/named-items.ts'
import type { History, Step } from './history.ts'
import { LIMIT_REFUSALS } from './lane-books.ts'
import { fail, isAmong, Ledger, nano, Violation } from './ledger.ts'
import { Network, type Told } from './network.ts'
import { type Answer, GatewayNode, type NodeDeps } from './node.ts'
import { operate } from './operator.ts'
import { OperatorProcess } from './operator-process.ts'
import { type CarryOut, type SimulatedProcess, TABLE_NAMES } from './process.ts'
import { Random } from './random.ts'
import { newTruth, type Truth } from './scripted-upstream.ts'
import { requestIdIn } from './stored-hold.ts'
import { newTotals, type Totals } from './totals.ts'
import { drain, VirtualTime } from './virtual-time.ts'

export type Outcome = {
  readonly violation?: string
  readonly totals: Totals
  /** Commands that a fault which was built in has changed, and the reason if the database did not understand one. */
  readonly rewritten: number
  readonly invalid: string | undefined
}

type Call = {
  readonly keyId: string
  readonly hash: string
  readonly hadEnded: boolean
  /** The status of the key, as the operator knew it when the call began, and as it is known now. */
  readonly statusThen: ToldStatus
  readonly statusNow: ToldStatus
  /** The time by which it is judged, and the writes of its key before it. */
  readonly nowMs: number
  readonly since: number
  /** The writes of its key until its answer. */
  until?: number
  readonly contract: ContractName
  readonly truth: Truth
  /** The account that its key had when it began, and the version of its status if all keys had been told of that. */
  readonly customer: Customer | undefined
  /** Its account, or the pool of its lanes. */
  readonly poolId: string | undefined
  readonly toldVersion: number | undefined
  answer?: Answer
  /** The least that its account could spend while it ran. */
  least?: bigint
}

/** Writes of the item of a hammered key, for an act that may be sent twice and meet as many others. */
const MOST_WRITES = 6

/** Those after which nothing is left to do. An account brings credits back in one, and forgets a key in the next. */
const MOST_SWEEPS = 6

/** An account without credits is remembered for a second. */
const REMEMBERED_MS = 1_000

const NOT_UNDERSTOOD =
  /^(Syntax error|The expression|A section|Attribute name is a reserved|An expression attribute|Value provided in)/

const time = new VirtualTime()

/** Replaces this process's timers. Histories run one at a time. */
export function installVirtualTime(): void {
  time.install()
}

/** Lives through a history and says what broke, if anything did. `tell` hears every step. */
export async function live(history: History, variant?: Variant, tell?: (line: string) => void): Promise<Outcome> {
  const world = new World(history, variant, tell)
  try {
    // Nothing disturbs it, so it fails only if a fault that was built in makes it fail.
    await world.begin().catch(({ message }: Error) => fail(`the keys of a history could not be made: ${message}`))
    for (const step of history.steps) await world.take(step)
    await world.comeToRest()
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    tell?.(`VIOLATION: ${error.message}`)
    return { ...world.outcome, violation: error.message }
  }
  return world.outcome
}

class World {
  readonly #history: History
  readonly #tell: ((told: Told) => void) | undefined
  readonly #random: Random
  readonly #model = new DynamoModel(TABLES)
  readonly #network = new Network()
  readonly #ledger = new Ledger()
  readonly #days = new DayBooks()
  readonly #catalogs = new CatalogBooks()
  readonly #variant: Variant | undefined
  readonly #nodes: GatewayNode[] = []
  readonly #accounts: Account[] = []
  #customer: Customer | undefined
  readonly #calls: Call[] = []
  readonly #asked: Asked[] = []
  #operator: OperatorProcess
  #underWay = 0
  #rewritten = 0
  #invalid: string | undefined
  #urgentActs = 0
  #crowdedOut: string | undefined
  readonly #totals = newTotals()

  constructor(history: History, variant: Variant | undefined, tell?: (line: string) => void) {
    this.#history = history
    this.#variant = variant
    this.#tell = tell && ((told) => tell(told()))
    this.#random = new Random(history.seed + 1)
    const jitter = new Random(history.seed + 2)
    Math.random = () => jitter.next()
    time.reset(history.startMs)
    for (let i = 0; i < history.nodes; i++) this.#nodes.push(this.#newNode(i))
    this.#operator = new OperatorProcess(this.#deps)
  }

  get outcome(): Outcome {
    const { pushes } = this.#catalogs
    const { closedTotals: dayTotals, exportedRows, keptSums, cursorsInKeys, lateRows } = this.#days
    const sum = (name: 'deals' | 'dealsOfRequests') =>
      this.#ledger.families.reduce((total, lanes) => total + lanes[name], 0)
    const madeHere = this.#accounts.slice(this.#history.keys.length)
    const totals = {
      ...this.#totals,
      histories: 1,
      accounts: this.#customer ? 1 : 0,
      calls: this.#calls.length,
      admissions: this.#ledger.admissions,
      byNewKeys: madeHere.reduce((sum, { keyId }) => sum + this.#ledger.admissionsOf(keyId), 0),
      faults: this.#network.faults,
      pushes,
      dayTotals,
      exportedRows,
      keptSums,
      cursorsInKeys,
      lateRows,
      withLanes: this.#history.keys.some(({ lanes }) => lanes !== undefined) ? 1 : 0,
      deals: sum('deals'),
      dealsOfRequests: sum('dealsOfRequests'),
    }
    return { totals, rewritten: this.#rewritten, invalid: this.#invalid }
  }

  async begin(): Promise<void> {
    const client = modelClient(async (command) => this.#carryOut(command as never))
    const tables: Tables = { database: sdkDatabase(client, client), ...TABLE_NAMES }
    await writeCatalog(tables)(this.#catalog(0), this.#newAct())
    const { keys, account } = this.#history
    this.#customer = account && (await openCustomer(this.#desk(tables), account))
    for (const [i, setup] of keys.entries()) {
      const customer = i < (account?.purses ?? 0) ? this.#customer : undefined
      this.#accounts.push(await openKey(this.#desk(tables), setup, customer))
    }
    // Hours are added up before the history, so that a request of a node whose clock is behind comes late.
    if (this.#history.closes) await this.#close(undefined, 0.5)
  }

  #catalog(value: number): CatalogData {
    const catalog = catalogOf(this.#history.catalog, FACTORS[value % FACTORS.length] as Factor)
    return this.#variant?.catalog?.(catalog) ?? catalog
  }

  async take(step: Step): Promise<void> {
    const line = await this.#act(step)
    if (line === undefined) return
    this.#tell?.(line)
    await drain()
    this.#checkAnswers()
    this.#checkUrgentActs()
  }

  /** No more faults: everything under way ends, what was delayed arrives, and the sweep comes by. */
  async comeToRest(): Promise<void> {
    for (const node of this.#nodes) node.skewMs = 0
    this.#network.hotItem = undefined
    await this.#runOut()
    for (let line = this.#network.land(0); line; line = this.#network.land(0)) this.#tell?.(line)
    // Requests that died keep their day open until they are swept.
    if (this.#history.closes) await this.#close(this.#fewLooks())
    for (let sweeps = 0; sweeps < MOST_SWEEPS && this.#ledger.hasWorkForSweeps; sweeps++) {
      await time.advance(3 * 3_600_000)
      this.#start(this.#newNode(9).sweep())
      await this.#runOut()
    }
    if (this.#history.closes) await this.#closeDays()
    this.#ledger.atRest()
    this.#catalogs.atRest()
    for (const asked of this.#asked) this.#checkAsked(asked)
    checkReferences(this.#ledger, this.#asked)
    for (const account of this.#accounts) this.#checkSecrets(account)
    for (const call of this.#calls) {
      this.#checkCharge(call)
      this.#checkModels(call)
      this.#checkCoverage(call)
      this.#checkRefusal(call)
      this.#checkLimitRefusal(call)
    }
  }

  /** A run closes the days, and the next one exports them; before each, runs end in the middle of a key. */
  async #closeDays(): Promise<void> {
    await this.#close(this.#fewLooks())
    for (const looks of [4, 5, 6, 7, undefined]) await this.#close(looks, 1)
    // No other day ends in the hours between, so that all looks are at the time for the export.
    for (const looks of [2, 3, undefined]) await this.#close(looks, 1)
    this.#days.atRest()
  }

  #fewLooks(): number {
    return 3 + this.#random.below(5)
  }

  async #close(looks?: number, hours = 26): Promise<void> {
    await time.advance(hours * 3_600_000)
    this.#start(this.#newNode(9).close(looks))
    await this.#runOut()
  }

  async #runOut(): Promise<void> {
    for (let idle = 0; idle < 40; ) {
      const line = this.#network.deliver(0, 'answered')
      if (line) this.#tell?.(line)
      await drain()
      this.#checkAnswers()
      if (line) continue
      if (this.#underWay === 0) return
      idle += 1
      await time.advance(60_000)
    }
    fail(`${this.#underWay} pieces of work never end`)
  }

  async #act(step: Step): Promise<Told | undefined> {
    switch (step.do) {
      case 'call':
        return this.#call(step)
      case 'deliver':
        return this.#network.deliver(step.pick, step.fate)
      case 'land':
        return this.#network.land(step.pick)
      case 'wait':
        await this.#commit()
        await time.advance(step.ms)
        return () => `${step.ms} ms pass`
      case 'crash': {
        const index = step.node % (this.#nodes.length + 1)
        return index < this.#nodes.length ? this.#crash(index) : this.#crashOperator()
      }
      case 'skew': {
        const node = this.#node(step.node)
        node.skewMs = step.ms
        this.#ledger.apartMs = Math.max(this.#ledger.apartMs, 2 * Math.abs(step.ms))
        return () => `${node.name}'s clock is off by ${step.ms} ms`
      }
      case 'sweep': {
        const node = this.#node(step.node)
        this.#start(node.sweep(), node)
        return () => `${node.name} sweeps`
      }
      case 'close': {
        const node = this.#node(step.node)
        this.#start(node.close(step.looks), node)
        return () => `${node.name} closes days (${step.looks} looks)`
      }
      case 'operate': {
        const catalog = (value: number) => this.#catalog(value)
        const account = this.#account(step.key)
        const lanes = this.#ledger.lanesOf(account.keyId)
        const told = (version: number) => {
          lanes.toldVersion = Math.max(lanes.toldVersion, version)
        }
        const done = operate(this.#operator.tables, catalog, account, step, this.#newAct(), told)
        this.#start(done, this.#operator)
        if (this.#network.hotItem) this.#watchUnderHeat(done)
        return () => `the operator: ${step.operation} (${step.value})`
      }
      case 'heat': {
        const { keyId } = this.#account(step.key)
        await this.#commit()
        this.#network.hotItem = itemName(TABLE_NAMES.keys, ...Object.values(keyItem(keyId)))
        return () => `${keyId} is hammered from now on`
      }
      case 'account':
        return this.#operateAccount(step)
      case 'ask':
        this.#start(askAdmin(this.#office, step, this.#account(step.key)))
        return () => `the admin API is asked: ${step.act} (${step.value})`
    }
  }

  #operateAccount(step: Extract<Step, { do: 'account' }>): Told | undefined {
    const [customer, [setup]] = [this.#customer, this.#history.keys]
    if (!customer || !setup) return undefined
    const done = operateAccount(this.#desk(this.#operator.tables), step, {
      customer,
      key: this.#account(step.key),
      setup,
    })
    this.#start(
      done.then((made) => made && this.#accounts.push(made)),
      this.#operator,
    )
    return () => `the operator, of the account: ${step.act} (${step.value})`
  }

  async #commit(): Promise<void> {
    for (let line = this.#network.commit(); line; line = this.#network.commit()) {
      this.#tell?.(line)
      await drain()
    }
  }

  /** An act that must win over requests is done within its time, and within a few writes. */
  #watchUnderHeat(done: Promise<unknown>): void {
    this.#urgentActs += 1
    done.catch((error: Error) => {
      if (this.#network.hotItem) this.#crowdedOut = `an urgent act failed on a hammered key: ${error.message}`
    })
  }

  #checkUrgentActs(): void {
    if (this.#crowdedOut) fail(this.#crowdedOut)
    const { writesOfHotItem } = this.#network
    if (writesOfHotItem > MOST_WRITES * this.#urgentActs) {
      fail(`${this.#urgentActs} urgent acts on a hammered key took ${writesOfHotItem} writes of its item`)
    }
  }

  #call(step: Extract<Step, { do: 'call' }>): Told | undefined {
    const { keyId, secrets, status } = this.#account(step.key)
    const secret = secrets[Math.max(0, secrets.length - 1 - step.secret)]
    // The answer that had it was lost.
    if (!secret) return undefined
    const node = this.#node(step.node)
    const poolId = this.#ledger.accounts.accountOf(keyId)
    const customer = poolId !== undefined && poolId === this.#customer?.id ? this.#customer : undefined
    const sinceMs = time.nowMs - REMEMBERED_MS - this.#ledger.apartMs
    const lanes = this.#ledger.lanesOf(keyId)
    const call: Call = {
      keyId,
      customer,
      poolId,
      nowMs: time.nowMs + node.skewMs,
      since: lanes.moments.length,
      toldVersion: customer && this.#toldVersionOf(customer),
      hash: secret.hash,
      hadEnded: secret.ended,
      statusThen: { ...status },
      statusNow: status,
      contract: step.contract,
      truth: newTruth(keyId),
    }
    this.#calls.push(call)
    this.#start(
      node.call(step, secret.text, call.truth).then((answer) => {
        call.answer = answer
        call.until = lanes.moments.length
        if (poolId) call.least = this.#ledger.accounts.leastSince(poolId, sinceMs)
        this.#tell?.(() => `the caller of ${node.name} gets ${answer.status} ${answer.headers['X-Request-Id'] ?? ''}`)
      }),
      node,
    )
    return () => `${inWords(step)} at ${node.name}`
  }

  #kill(node: GatewayNode): void {
    const index = this.#nodes.indexOf(node)
    if (index < 0) return
    const told = this.#crash(index)
    this.#tell?.(told)
  }

  /** Its callers hear that it is gone, and ask the next. */
  #crashOperator(): Told {
    const crashed = this.#operator
    this.#operator = new OperatorProcess(this.#deps)
    this.#forgetWorkOf(crashed)
    crashed.crash()
    return () => 'the operator’s process crashes'
  }

  #crash(index: number): Told {
    const node = this.#nodes[index] as GatewayNode
    node.alive = false
    this.#forgetWorkOf(node)
    const next = this.#newNode(index)
    next.skewMs = node.skewMs
    this.#nodes[index] = next
    return () => `${node.name} crashes`
  }

  #forgetWorkOf(crashed: SimulatedProcess): void {
    this.#underWay -= crashed.work
    this.#totals.crashes += 1
  }

  /** Work that must have ended when everything is at rest, unless its node crashes. */
  #start(work: Promise<unknown>, node?: SimulatedProcess): void {
    const count = (change: 1 | -1) => {
      this.#underWay += change
      if (node) node.work += change
    }
    count(1)
    const ended = () => {
      if (!node || node.alive) count(-1)
    }
    work.then(ended, ended)
  }

  #toldVersionOf({ id, toldVersion }: Customer): number | undefined {
    const { version } = this.#ledger.accounts.statusOf(id) ?? {}
    return version !== undefined && version <= toldVersion ? version : undefined
  }

  /** An account whose keys were all told that it is suspended or closed lets nobody in, as long as it is. */
  #checkToldAccount({ keyId, customer, toldVersion }: Call, answer: Answer): void {
    const now = customer && this.#ledger.accounts.statusOf(customer.id)
    if (!now || now.version !== toldVersion || now.status === 'active') return
    if (this.#ledger.wasAdmitted(keyId, answer.headers['X-Request-Id'] as string)) {
      fail(`the account of ${keyId} was told to be ${now.status}, and a call after that was let in: ${answer.status}`)
    }
  }

  #checkAnswers(): void {
    for (const call of this.#calls) {
      const { answer, keyId, hash, hadEnded } = call
      if (!answer) continue
      checkToldStatus(call, answer)
      this.#checkToldAccount(call, answer)
      if (answer.status === 401 && this.#ledger.opens(keyId, hash)) {
        fail(`a secret of ${keyId} that is in force was answered with 401`)
      }
      if (hadEnded && ![401, 503].includes(answer.status)) {
        fail(`a secret that had ended was answered with ${answer.status}`)
      }
      // A fault that was built in must be found by what it does to the books.
      if (answer.status === 500 && !this.#variant) fail(`the gateway failed: ${answer.body}`)
    }
  }

  /** The cost that a caller was told is the row's, or more: a row that the sweep wrote first is free. */
  #checkCharge({ answer }: Call): void {
    const told = answer?.headers['X-Svc-Cost']
    if (!answer || told === undefined || answer.status !== 200) return
    const requestId = answer.headers['X-Request-Id'] as string
    const { cost } = this.#ledger.row(requestId) ?? fail(`${requestId} was answered and has no row`)
    if (nano(cost) > BigInt(Math.round(Number(told) * 1e9))) fail(`${requestId} was told ${told}, charged ${cost}`)
  }

  /** A list has the models that the key may use, and no others. */
  #checkModels({ answer, keyId }: Call): void {
    if (answer?.status !== 200 || !answer.body.startsWith('{"object":"list","data":[{"id"')) return
    const allowed = this.#ledger.modelsFor(answer.headers['X-Request-Id'] as string) ?? []
    const { data } = JSON.parse(answer.body) as { data: readonly { id: string }[] }
    const alien = data.find(({ id }) => !isAmong(allowed, id))
    if (alien) fail(`${keyId} was shown ${alien.id}, of ${allowed}`)
  }

  /** Nobody is refused for want of credits that their account had. */
  #checkRefusal({ answer, least }: Call): void {
    if (!answer || least === undefined) return
    const requestId = answer.headers['X-Request-Id'] as string
    if (answer.body.includes('key_busy')) this.#totals.busy += 1
    if (this.#ledger.row(requestId)?.errorCode !== 'credit_balance_exhausted') return
    this.#totals.refusals += 1
    this.#ledger.accounts.checkRefusal(requestId, least)
  }

  /** Nobody is refused for a limit that all lanes of a key together had not reached. Clocks that are apart do not agree on a minute. */
  #checkLimitRefusal({ answer, keyId, nowMs, since, until }: Call): void {
    const lanes = this.#ledger.lanesOf(keyId)
    const refusal = answer?.status === 429 && LIMIT_REFUSALS.find((one) => answer.body.includes(`"${one}"`))
    if (!answer || !refusal || !lanes.hasLanes) return
    const isOfCredits = refusal.includes('credits')
    const tokens = / may take up to (\d+)/.exec(answer.body)?.[1]
    const asked = isOfCredits
      ? this.#ledger.accounts.askedBy(answer.headers['X-Request-Id'] as string)
      : BigInt(tokens ?? 1)
    if (asked === undefined || (refusal === 'rate_limit_exceeded' && this.#ledger.apartMs > 0)) return
    this.#totals.limitRefusals += 1
    lanes.checkRefusal(refusal, { since, until: until as number, nowMs, asked })
  }

  #checkCoverage({ answer, contract, truth }: Call): void {
    if (!answer || truth.attempts === 0) return
    const row = this.#ledger.row(answer.headers['X-Request-Id'] as string)
    if (!row) return
    // A row that the sweep wrote first has its hold as its loss.
    if (row.outcome !== 'abandoned' && contract !== 'embeddings') {
      checkLossOf(row, truth, this.#catalogs.factorOf(row.priceVersion as number))
    }
    if (answer.status !== 200) return
    checkCoverage(row, truth, contract, answer.body, (version) => this.#catalogs.factorOf(version))
    if (row.cost) this.#totals[contract] += 1
  }

  #checkAsked(asked: Asked): void {
    checkAsked(this.#ledger, asked)
    if (asked.times > 1 && this.#ledger.doneFor(asked.by).events.length > 0) {
      this.#totals[asked.act] += 1
    }
    const failed = asked.answers.some(({ status }) => status === 500)
    if (failed && !this.#variant) fail(`the admin API failed: ${asked.act} for ${asked.by}`)
  }

  /** A secret that was told, and is in force, leads to its key; nobody was told that it has ended. */
  #checkSecrets({ keyId, secrets }: Account): void {
    const pointers = secrets.filter(({ hash }) => this.#model.item(TABLE_NAMES.keys, hashItem(hash)))
    if (this.#ledger.isRevoked(keyId) && pointers.length > 0) {
      fail(`${keyId} is revoked, and ${pointers.length} of its secrets lead to it`)
    }
    for (const { hash, ended } of secrets.filter((secret) => this.#ledger.opens(keyId, secret.hash))) {
      if (ended) fail(`a secret of ${keyId} was told to have ended, and is in force`)
      const pointer = this.#model.item(TABLE_NAMES.keys, hashItem(hash))
      if (pointer?.keyId !== keyId) fail(`a secret of ${keyId} was told, and leads to ${pointer?.keyId}`)
    }
  }

  readonly #carryOut: CarryOut = (given) => {
    const command = this.#variant?.rewrite?.(given, time.nowMs) ?? given
    if (command !== given) this.#rewritten += 1
    this.#lookAtDemand(command.input)
    const isOpen = (keyId: string, requestId: string) => this.#ledger.isOpen(keyId, requestId)
    if (comesTooLate(command, time.nowMs, isOpen))
      throw Object.assign(new Error('TimeoutError'), { name: 'TimeoutError' })
    const result = this.#execute(command, given)
    this.#count(command.input)
    this.#look(command)
    this.#ledger.accounts.check(time.nowMs)
    return result
  }

  #lookAtDemand({ UpdateExpression, ExpressionAttributeValues: values }: Input): void {
    if (!UpdateExpression?.includes('ADD openHolds')) return
    this.#ledger.accounts.holdAsked(requestIdIn(values?.[':open'] as Uint8Array), nano(values?.[':hold']))
  }

  /** A fault whose write the database does not understand breaks nothing, and must not pass for one that was caught. */
  #execute(command: Parameters<CarryOut>[0], given: object) {
    try {
      return this.#model.execute(command as never)
    } catch (error) {
      const { message } = error as Error
      if (command !== given && NOT_UNDERSTOOD.test(message)) this.#invalid ??= message
      throw error
    }
  }

  #count({ UpdateExpression = '', TransactItems = [] }: Input): void {
    if (UpdateExpression.includes('drawn = drawn + :amount')) this.#totals.draws += 1
    if (UpdateExpression.includes('granted = granted - :amount')) this.#totals.returns += 1
    const joins = TransactItems.find(({ Update }) => Update?.UpdateExpression?.includes('drawn = granted'))?.Update
    // The credits of a key with lanes go to a pool that nobody sees.
    if (joins && joins.ExpressionAttributeValues?.[':accountId'] === this.#customer?.id) this.#totals.adoptions += 1
  }

  #look({ input }: { input: object }): void {
    const { TableName, Key, Item, TransactItems, ExpressionAttributeValues } = input as Input
    if (TransactItems) {
      for (const item of TransactItems) this.#look({ input: item.Put ?? item.Update ?? {} })
      return
    }
    if (Key === undefined && Item === undefined) return
    if (TableName === TABLE_NAMES.answers) {
      if (Item) this.#ledger.claimWritten(Item)
      return
    }
    if (TableName === TABLE_NAMES.usage) {
      const { part, requestId } = (Key ?? Item) as { part: string; requestId: string }
      const row = this.#model.item(TABLE_NAMES.usage, { part, requestId })
      if (row) this.#lookAtUsage(row, Item !== undefined)
      return
    }
    if (!Item && !('UpdateExpression' in input)) return
    const { pk, sk } = (Key ?? Item) as { pk: string; sk: string }
    if (Item && pk.startsWith(ITEMS.event)) this.#ledger.eventWritten(Item)
    if (Item && pk === `${ITEMS.event}${ITEMS.catalog}`) this.#catalogs.eventWritten(Item)
    if (Item && pk === ITEMS.versions) this.#catalogs.versionWritten(Item)
    const ofCatalog = pk === ITEMS.catalog ? this.#model.item(TABLE_NAMES.keys, { pk, sk }) : undefined
    if (ofCatalog && sk === CATALOG_HEAD.sk) this.#catalogs.head = ofCatalog.version as number
    else if (ofCatalog) this.#catalogs.inForceWritten(ofCatalog)
    if (!pk.startsWith(ITEMS.key)) return
    const item = this.#model.item(TABLE_NAMES.keys, { pk, sk })
    if (item) this.#ledger.keyWritten(item, ExpressionAttributeValues)
  }

  #lookAtUsage(item: Record<string, unknown>, isPut: boolean): void {
    const part = item.part as string
    const isDay = part.startsWith(USAGE_ITEMS.day)
    if (part.startsWith(DAY_SUMS)) this.#days.sumWritten(item)
    else if (part.startsWith(HOUR_SUMS)) this.#days.hoursWritten(item)
    else if (isDay && isPut) this.#days.totalWritten(item, (keyId, day) => this.#ledger.hasOpenHold(keyId, day))
    else if (isDay) this.#days.noted(item)
    else if (isPut) {
      this.#days.rowWritten(item)
      this.#ledger.rowWritten(item)
    }
  }

  get #office(): Office {
    return {
      process: () => this.#operator,
      accounts: this.#accounts,
      asked: this.#asked,
      random: this.#random,
      tell: (told) => this.#tell?.(told),
    }
  }

  get #deps(): NodeDeps {
    return {
      network: this.#network,
      carryOut: this.#carryOut,
      nowMs: () => time.nowMs,
      random: this.#random,
      variant: this.#variant,
      kill: (node) => this.#kill(node),
      putObject: (path, bytes) => this.#days.partWritten(path, bytes),
      notice: (notice) => this.#ledger.notices.told(notice),
    }
  }

  #node(number: number): GatewayNode {
    return this.#nodes[number % this.#nodes.length] as GatewayNode
  }

  #account(number: number): Account {
    return this.#accounts[number % this.#accounts.length] as Account
  }

  #newNode(index: number): GatewayNode {
    return new GatewayNode(`node ${index}`, this.#deps)
  }

  #newAct(): Act {
    return newAct(
      'simulation',
      time.nowMs,
      this.#random.bytes(10),
      timeLeft(ACT_MS, () => time.nowMs),
    )
  }

  #desk(tables: Tables): Desk {
    return { tables, random: this.#random, act: this.#newAct() }
  }
}

function inWords({ endpoint, contract, secret, scripts, pin, logprobs }: Extract<Step, { do: 'call' }>): string {
  const asked = `${endpoint} with ${secret === 0 ? 'the newest' : 'an older'} secret`
  if (endpoint === 'models') return asked
  const wishes = `${pin ? `; pinned to ${pin}` : ''}${logprobs ? '; with logprobs' : ''}`
  return `${contract} ${asked}; the upstream ${scripts.join(', others: ')}${wishes};`
}

/** A status that the operator was told before a call holds for it, unless an act that may change it has begun since. */
function checkToldStatus(call: Call, { status, body }: Answer): void {
  const { keyId, statusThen, statusNow, customer } = call
  const { begun, told } = statusThen
  if (statusNow.begun !== begun) return
  if (told === 'suspended' && ![401, 403, 503].includes(status)) {
    fail(`${keyId} was told to be suspended, and a call after that was answered with ${status}`)
  }
  // A key may be suspended with its account.
  if (told === 'active' && customer === undefined && body.includes('key_suspended')) {
    fail(`${keyId} was told to be resumed, and a call after that was told that it is suspended`)
  }
}
