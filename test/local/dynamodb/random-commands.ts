import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { Tables } from '../../../layers/gateway/store/dynamodb/database.ts'
import type { DocumentCommand } from '../../simulation/dynamodb/dynamodb-model.ts'
import type { Random } from '../../simulation/random.ts'
import { RandomExpressions, randomAttributes, TEXTS } from './random-expressions.ts'
import { canonical, type SideBySide } from './side-by-side.ts'

/** The two sides that commands go to, and the tables that they are about. */
export type Sides = Pick<SideBySide, 'send' | 'scanInPages'> & { readonly local: Tables }

type Members = Record<string, unknown>
type WriteMembers = Members & { TableName: string }
type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

const PARTITIONS = ['p', 'q']
const SORTS = ['a', 'ab', 'abc', 'b', '\u{1F600}', '\uffee']
const REQUESTS = ['r0', 'r1', 'r2', 'r3'].flatMap((requestId) => PARTITIONS.map((part) => ({ part, requestId })))
const DAYS = ['d1', 'd2']
const RETURN_VALUES = ['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW']

/** Commands with free expressions over a few items of both tables, one after the other on both sides. */
export class RandomCommands {
  private readonly sides: Sides
  private readonly random: Random
  private readonly tables: Tables
  private readonly sent: TransactWriteCommand[] = []
  private readonly done: TransactWriteCommand[] = []
  private serial = 0

  constructor(sides: Sides, random: Random) {
    this.sides = sides
    this.random = random
    this.tables = sides.local
  }

  async step(): Promise<void> {
    const { random } = this
    if (random.chance(0.06)) {
      await this.sides.send(this.batch())
      return
    }
    const kind = random.below(20)
    if (kind === 0) return this.sides.scanInPages({ ...this.scanned(), Limit: 1 + random.below(5) })
    if (kind > 17) return this.queryInPages(this.query())
    const command = kind < 15 ? this.write(kind) : this.read(kind)
    await this.sides.send(command)
    if (command instanceof TransactWriteCommand) this.done.push(command)
  }

  /** Several items, read at once. */
  private batch(): DocumentCommand {
    const { random, tables } = this
    const keys = Array.from({ length: 1 + random.below(3) }, () => ({
      pk: random.pick(PARTITIONS),
      sk: random.pick(SORTS),
    }))
    const own = random.chance(0.05) ? keys : [...new Map(keys.map((key) => [key.pk + key.sk, key])).values()]
    return new BatchGetCommand({ RequestItems: { [tables.keys]: { Keys: own, ConsistentRead: true } } })
  }

  private async queryInPages(input: QueryCommandInput): Promise<void> {
    const { LastEvaluatedKey } = await this.sides.send(new QueryCommand(input))
    if (!LastEvaluatedKey) return
    await this.queryInPages({ ...input, ExclusiveStartKey: LastEvaluatedKey as Members })
  }

  private write(kind: number): DocumentCommand {
    if (kind < 5) return new PutCommand(this.returning(this.put(), ['NONE', 'ALL_OLD']))
    if (kind < 11) return new UpdateCommand(this.returning(this.update(), RETURN_VALUES))
    if (kind === 11) return new DeleteCommand(this.returning(this.delete(), ['NONE', 'ALL_OLD']))
    return this.transaction()
  }

  private read(kind: number): DocumentCommand {
    return kind === 17 ? new ScanCommand(this.scanned()) : new GetCommand(this.get())
  }

  private returning<T extends WriteMembers>(members: T, allowed: readonly string[]) {
    const { random } = this
    const wanted = random.chance(0.01) ? 'ALL_NEW' : random.pick(allowed)
    return { ...members, ...(random.chance(0.8) && { ReturnValues: wanted as 'NONE' }) }
  }

  private put() {
    const { random } = this
    const { TableName, Key } = this.key()
    const Item = { ...Key, ...randomAttributes(random), ...(TableName === this.tables.usage && this.indexKeys()) }
    return { TableName, Item, ...this.conditional(new RandomExpressions(random), 0.5) }
  }

  private update() {
    const { random } = this
    const expressions = new RandomExpressions(random)
    const UpdateExpression = this.updateExpression(expressions)
    const { TableName, Key } = this.key()
    const expression = random.chance(0.98) ? { UpdateExpression } : {}
    return { TableName, Key, ...expression, ...this.conditional(expressions, 0.4) }
  }

  /** Sometimes one that moves the item in the index, or out of it. */
  private updateExpression(expressions: RandomExpressions): string {
    const { random } = this
    if (random.chance(0.85)) return expressions.expression('update')
    if (random.chance(0.3)) return `REMOVE ${expressions.name(random.pick(['keyDay', 'startedAt']))}`
    const day = random.chance(0.95) ? random.pick(DAYS) : random.pick(['', 5, null])
    return `SET keyDay = ${expressions.value(day)}, ${expressions.name('startedAt')} = ${expressions.value(this.moment())}`
  }

  private delete() {
    return { ...this.key(), ...this.conditional(new RandomExpressions(this.random), 0.5) }
  }

  private get() {
    const { random } = this
    const expressions = new RandomExpressions(random)
    const projection = random.chance(0.5) ? { ProjectionExpression: expressions.expression('projection') } : {}
    const { ExpressionAttributeValues: _, ...placeholders } = expressions.placeholders()
    return { ...this.key(), ConsistentRead: true, ...projection, ...placeholders }
  }

  private scanned() {
    const { random } = this
    const expressions = new RandomExpressions(random)
    const isIndex = random.chance(0.2)
    return {
      TableName: isIndex ? this.tables.usage : random.pick([this.tables.keys, this.tables.usage]),
      ...(isIndex ? { IndexName: 'byKey' } : { ConsistentRead: true }),
      ...(random.chance(0.5) && { FilterExpression: expressions.expression('condition') }),
      ...(random.chance(0.3) && { ProjectionExpression: expressions.expression('projection') }),
      ...expressions.placeholders(),
    }
  }

  private query() {
    const { random } = this
    const isIndex = random.chance(0.5)
    const expressions = new RandomExpressions(random)
    return {
      TableName: isIndex ? this.tables.usage : this.tables.keys,
      ...(isIndex && { IndexName: random.chance(0.98) ? 'byKey' : 'nope' }),
      KeyConditionExpression: isIndex
        ? this.keyCondition(expressions, 'keyDay', 'startedAt', random.pick(DAYS), ['0', '1', '2', '10', '3'])
        : this.keyCondition(expressions, 'pk', 'sk', random.pick(PARTITIONS), SORTS),
      ...(random.chance(0.4) && { FilterExpression: expressions.expression('condition') }),
      ...(random.chance(0.2) && { ProjectionExpression: expressions.expression('projection') }),
      ...(random.chance(0.5) && { ScanIndexForward: random.chance(0.5) }),
      ...(random.chance(0.5) && { Limit: random.below(5) }),
      ...(random.chance(0.3) && { ExclusiveStartKey: this.startKey(isIndex) }),
      ...expressions.placeholders(),
    }
  }

  private keyCondition(
    expressions: RandomExpressions,
    partitionKey: string,
    sortKey: string,
    partition: string,
    sorts: readonly string[],
  ): string {
    const { random } = this
    const is = random.chance(0.97) ? '=' : random.pick(['<', '<>', '>='])
    const first = `${expressions.name(partitionKey)} ${is} ${expressions.value(partition)}`
    if (random.chance(0.3)) return first
    const name = expressions.name(random.chance(0.97) ? sortKey : 'aa')
    const [low, high] = [random.pick(sorts), random.pick(random.chance(0.95) ? sorts : TEXTS)]
    const second = [
      ...['=', '<', '<=', '>', '>='].map((comparator) => () => `${name} ${comparator} ${expressions.value(low)}`),
      () => `${name} BETWEEN ${expressions.value(low)} AND ${expressions.value(high)}`,
      () => `${name} = ${expressions.value(random.pick([1, null, '']))}`,
    ]
    return [first, random.pick(second)()].sort(() => random.next() - 0.3).join(random.chance(0.98) ? ' AND ' : ' OR ')
  }

  private startKey(isIndex: boolean): Members {
    const { random } = this
    if (random.chance(0.05)) return { pk: 'p' }
    if (!isIndex) return { pk: random.pick(PARTITIONS), sk: random.pick([...SORTS, 'aa', 'bb']) }
    return { keyDay: random.pick(DAYS), startedAt: this.moment(), ...random.pick(REQUESTS) }
  }

  /** Sometimes one that was sent before, or another one under its token. */
  private transaction(): TransactWriteCommand {
    const { random, sent, done } = this
    if (sent.length > 0 && random.chance(0.15)) return new TransactWriteCommand(random.pick(sent).input)
    if (done.length > 0 && random.chance(0.25)) {
      const { ClientRequestToken } = random.pick(done).input
      const Delete = { TableName: this.tables.keys, Key: { pk: 'p', sk: random.pick(SORTS) } }
      return new TransactWriteCommand({ TransactItems: [{ Delete }], ClientRequestToken })
    }
    const command = new TransactWriteCommand({
      TransactItems: this.transactItems(),
      ClientRequestToken: `${this.tables.keys}-${this.next()}`,
    })
    sent.push(command)
    return command
  }

  /** Twice the same item only without conditions: DynamoDB Local looks at those first. */
  private transactItems(): TransactItem[] {
    const { TableName, Item } = this.put()
    if (this.random.chance(0.03)) return [{ Put: { TableName, Item } }, { Put: { TableName, Item } }]
    const items = Array.from({ length: 1 + this.random.below(4) }, () => this.transactItem())
    return [...new Map(items.map((item) => [this.placeOf(item), item])).values()]
  }

  private placeOf({ Put, Update, Delete, ConditionCheck }: TransactItem): string {
    const key = { ...Put?.Item, ...(Update ?? Delete ?? ConditionCheck)?.Key }
    return canonical([key.pk, key.sk, key.part, key.requestId])
  }

  private transactItem(): TransactItem {
    const { random } = this
    const expressions = new RandomExpressions(random)
    const check = () => ({
      ...this.key(),
      ConditionExpression: expressions.expression('condition'),
      ...this.onFailure(),
      ...expressions.placeholders(),
    })
    const update = () => ({ Update: { UpdateExpression: 'SET', ...this.update() } })
    return random.pick<() => TransactItem>([
      () => ({ Put: this.put() }),
      () => ({ Delete: this.delete() }),
      () => ({ ConditionCheck: check() }),
      ...[update, update],
    ])()
  }

  private conditional(expressions: RandomExpressions, probability: number): Members {
    const condition = this.random.chance(probability)
      ? { ConditionExpression: expressions.expression('condition') }
      : {}
    return { ...condition, ...this.onFailure(), ...expressions.placeholders() }
  }

  private onFailure(): Members {
    return this.random.chance(0.5) ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {}
  }

  private key(): { TableName: string; Key: Members } {
    const { random } = this
    const { keys, usage } = this.tables
    if (random.chance(0.01))
      return { TableName: keys, Key: random.pick<Members>([{ pk: 'p' }, { pk: 'p', sk: '' }, { pk: 1, sk: 'a' }]) }
    if (random.chance(0.7)) return { TableName: keys, Key: { pk: random.pick(PARTITIONS), sk: random.pick(SORTS) } }
    return { TableName: usage, Key: random.pick(REQUESTS) }
  }

  private indexKeys(): Members {
    const { random } = this
    return {
      ...(random.chance(0.9) && { keyDay: random.chance(0.97) ? random.pick(DAYS) : random.pick(['', 5, true]) }),
      ...(random.chance(0.9) && { startedAt: this.moment() }),
    }
  }

  /** Never the same twice: DynamoDB promises no order among items with the same place in an index. */
  private moment(): string {
    return `${this.random.below(12)}-${this.next()}`
  }

  private next(): number {
    this.serial += 1
    return this.serial
  }
}
