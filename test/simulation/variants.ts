import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { COUNTER_NAMES, COUNTERS, type CounterName, windowOf } from '../../layers/gateway/domain/admission/counters.ts'
import type { ChatPart } from '../../layers/gateway/domain/chat/chat.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import { ITEMS } from '../../layers/gateway/names.ts'
import type { Provider } from '../../layers/gateway/providers/provider.ts'
import { counterWrite } from '../../layers/gateway/store/admission/admission-rules.ts'
import { CLOSING_VARIANTS } from './closing-variants.ts'
import { GRANT_VARIANTS } from './grant-variants.ts'
import type { Usage } from './scripted-upstream.ts'
import { SELLING_VARIANTS } from './selling-variants.ts'
import { requestIdIn } from './stored-hold.ts'
import { URGENT_VARIANTS } from './urgent-variants.ts'

/** One command on its way, and the rest of that way. */
export type Command = { readonly constructor: { readonly name: string }; readonly input: object }
export type Send = (command: Command) => Promise<Record<string, unknown>>

/** The gateway with one fault built in, which the simulation must find. */
export type Variant = {
  readonly name: string
  /** The command that the database gets in place of the right one. */
  readonly rewrite?: (command: Command, nowMs: number) => Command
  /** The node's action in place of sending. */
  readonly wrap?: (send: Send) => Send
  /** How often a write that must be sent once is sent. */
  readonly attempts?: number
  /** The catalog that the gateway goes by in place of the true one. */
  readonly catalog?: (catalog: CatalogData) => CatalogData
  /** The provider that the gateway hears in place of the real one. */
  readonly provider?: (provider: Provider) => Provider
}

type Expressions = {
  ConditionExpression?: string
  UpdateExpression?: string
  ExpressionAttributeNames?: Readonly<Record<string, string>>
  Item?: { requestId?: string }
  TransactItems?: readonly object[]
}
const RELEASED = 'DELETE openHolds'
const BROKEN = new UpstreamFailure('status', 'It fails.', { status: 500 })
const UNREACHABLE = new UpstreamFailure('connect', 'It is away.')

export const VARIANTS: readonly Variant[] = [
  without('the hold is not checked', 'available >= :hold'),
  without('a stale copy of a key is acted on', 'version = :version'),
  without('a revoked key is admitted', 'version = :version AND #status = :active'),
  without('the bucket is read, then written', 'bucketFullAtUs <= :nowUs', 'bucketFullAtUs <= :lastTakeable'),
  ...COUNTER_NAMES.filter((name) => COUNTERS[name].counts !== 'loss').flatMap(counterVariants),
  without('a loss is read, then risked', '(attribute_not_exists(#loss) OR #loss <= :room)'),
  changing(
    'a loss is risked, and not taken',
    '#loss = if_not_exists(#loss, :zero) + :amount',
    'zero = :zero, risked = :amount',
  ),
  changing(
    'a loss is not added up',
    '#loss = if_not_exists(#loss, :zero) + :loss',
    '#loss = if_not_exists(#loss, :zero), lost = :loss',
  ),
  without(
    'parallel requests are counted, then admitted',
    '(attribute_not_exists(openHolds) OR size(openHolds) < :maxConcurrent)',
  ),
  without(
    'a secret is not asked whether its grace is over',
    '(currentHash = :hash OR (previousHash = :hash AND previousUntilMs > :nowMs))',
  ),
  without('a cached copy lets an expired key in', '(attribute_not_exists(expiresAtMs) OR expiresAtMs > :nowMs)'),
  { name: 'a change is made without its event', rewrite: leaveEventsOut },
  without('a request settles twice', 'contains(openHolds, :open)'),
  without('a later row takes the place of the first', 'attribute_not_exists(requestId)'),
  without(
    'a key leaves the sweep’s list with requests open',
    'bucketFullAtUs = :bucket',
    'attribute_not_exists(notices) AND attribute_not_exists(openHolds)',
  ),
  changing('a notice is noted, and not kept', 'ADD notices :notices', 'ADD noticed :notices'),
  changing('no sweep is told of a hold', 'sweepAt = if_not_exists(sweepAt, :sweepAt)', 'swept = :sweepAt'),
  changing('what is not spent does not come back', 'available = available + :back', 'lost = :back'),
  without('an Idempotency-Key is claimed by two', 'attribute_not_exists(id) OR expiresAt <= :now'),
  { name: 'an operator’s Idempotency-Key is claimed by two', rewrite: claimAlways },
  { name: 'an operator’s Idempotency-Key is claimed when its act is done', wrap: claimAfterwards },
  { name: 'an act that is sent again is done again', rewrite: actAlways },
  { name: 'an act that was done is not found again', wrap: findNoEvent },
  { name: 'a secret is told that leads to no key', rewrite: leaveHashesOut },
  { name: 'an admission that is not answered is sent again', attempts: 3 },
  { name: 'the money moves before the row is written', wrap: releaseFirst },
  hearing('counts above the bound are thrown away', (usage) => (usage.prompt_tokens > 200 ? undefined : usage)),
  hearing('thinking that is counted in the total only is free', ({ total_tokens: _, ...usage }) => usage),
  hearing('half of an answer is charged', (usage) => ({
    prompt_tokens: Math.floor(usage.prompt_tokens / 2),
    completion_tokens: Math.floor(usage.completion_tokens / 2),
  })),
  failingAs('a field that a dialect lacks leads to the fallback', ({ reason }) => reason === 'unsupported', BROKEN),
  failingAs('a failure that a caller provokes leads to what costs more', ({ detail }) => detail.status === 404, BROKEN),
  failingAs('an attempt that was given up is no loss', ({ reason }) => reason === 'timeout', BROKEN),
  failingAs('one caller’s failures rest a route', ({ detail }) => detail.status === 500, UNREACHABLE),
  { name: 'the models of a key are not looked at', wrap: forgetModels },
  ...SELLING_VARIANTS,
  ...CLOSING_VARIANTS,
  ...URGENT_VARIANTS,
  ...GRANT_VARIANTS,
  { name: 'a push takes the place of another', rewrite: pushAlways },
  { name: 'an answer beyond its cap is not cut', provider: inUncountedWords },
]

/** Each counter without its condition, without its count, keeping what should come back, and giving it back to a later window. */
function counterVariants(name: CounterName): Variant[] {
  const { take, giveBack } = counterWrite(name, COUNTERS[name])
  const set = `${take.replace(/if_not_exists\(.*\) \+ /, '')}, zero = :zero`
  return [
    without(`${name} is read, then written`, `#${name} <= :${name}Room`),
    changing(`${name} is set, not counted`, take, set),
    ...(giveBack ? [changing(`${name} gives nothing back`, giveBack, giveBack.replace(' - :back', ''))] : []),
    ...(giveBack ? [givingBackNow(name, giveBack)] : []),
  ]
}

function givingBackNow(name: CounterName, giveBack: string): Variant {
  return {
    name: `${name} gives back to the window of the settlement`,
    rewrite: (command, nowMs) => {
      const { UpdateExpression, ExpressionAttributeNames } = command.input as Expressions
      if (!UpdateExpression?.includes(giveBack)) return command
      const window = { [`#${name}`]: `${COUNTERS[name].stored}:${windowOf(COUNTERS[name], nowMs)}` }
      return rewritten(command, { ExpressionAttributeNames: { ...ExpressionAttributeNames, ...window } })
    },
  }
}

/** An upstream's counts are not what the gateway bills. */
function hearing(name: string, hear: (usage: Usage) => Usage | undefined): Variant {
  return {
    name,
    provider: (provider) => ({
      ...provider,
      async *chat(call) {
        for await (const parts of await provider.chat(call)) {
          yield parts.flatMap((part): ChatPart[] => {
            if (part.kind !== 'usage') return [part]
            const usage = hear(part.usage as Usage)
            return usage ? [{ kind: 'usage', usage }] : []
          })
        }
      },
      async embed(call) {
        const embedding = await provider.embed?.(call)
        if (!embedding) throw new Error('A scripted upstream embeds.')
        return { ...embedding, usage: embedding.usage && hear({ ...(embedding.usage as Usage), completion_tokens: 0 }) }
      },
    }),
  }
}

/** A failure is taken for another one, whose doing is another's. */
function failingAs(name: string, isIt: (failure: UpstreamFailure) => boolean, as: UpstreamFailure): Variant {
  const heard = (error: unknown) => (error instanceof UpstreamFailure && isIt(error) ? as : error)
  return {
    name,
    provider: (provider) => ({
      ...provider,
      async *chat(call) {
        try {
          yield* await provider.chat(call)
        } catch (error) {
          throw heard(error)
        }
      },
    }),
  }
}

/** Words that the gateway passes on and does not count, so that none of them is beyond a cap. */
function inUncountedWords(provider: Provider): Provider {
  return {
    ...provider,
    async *chat(call) {
      for await (const parts of await provider.chat(call)) {
        yield parts.map((part) =>
          part.kind !== 'choice' ? part : { ...part, delta: { uncounted: { ...part.delta } } },
        )
      }
    },
  }
}

/** Some conditions always hold. */
function without(name: string, ...conditions: readonly string[]): Variant {
  return {
    name,
    rewrite: (command) => {
      const { ConditionExpression: condition } = command.input as Expressions
      if (!condition) return command
      const weaker = conditions.reduce(
        // The opposite of a condition is another rule, and stays.
        (text, part) =>
          text.includes(`NOT ${part}`) ? text : text.replace(part, `(${part} OR attribute_exists(${keyOf(command)}))`),
        condition,
      )
      return weaker === condition ? command : rewritten(command, { ConditionExpression: weaker })
    },
  }
}

function keyOf({ input }: Command): string {
  return { usage: 'requestId', answers: 'id' }[(input as { TableName?: string }).TableName ?? ''] ?? 'pk'
}

/** As if events were written on their own, and the process died before. */
function leaveEventsOut(command: Command): Command {
  return changingPuts(command, (put) => (isOf(put, ITEMS.event) ? [] : [put]))
}

function leaveHashesOut(command: Command): Command {
  return changingPuts(command, (put) => (isOf(put, ITEMS.hash) ? [] : [put]))
}

/** Nothing stops an act whose event, or whose grant, is there already. */
function actAlways(command: Command): Command {
  return changingPuts(command, ({ ConditionExpression, ...put }) => {
    return [isOf(put, ITEMS.event) || put.Item?.sk?.startsWith('GRANT#') ? put : { ...put, ConditionExpression }]
  })
}

/** Two who saw the same catalog both push the next version. */
function pushAlways(command: Command): Command {
  const { TransactItems = [] } = command.input as { TransactItems?: readonly { readonly Update?: Update }[] }
  if (!TransactItems.some(({ Update }) => Update && isOf(Update, ITEMS.catalog))) return command
  const weaker = TransactItems.map((item) => {
    const { Update } = item
    if (!Update) return item
    return { Update: { ...Update, ConditionExpression: `${Update.ConditionExpression} OR attribute_exists(pk)` } }
  })
  return changingPuts(rewritten(command, { TransactItems: weaker }), ({ ConditionExpression, ...put }) => {
    return [isOf(put, ITEMS.versions) ? put : { ...put, ConditionExpression }]
  })
}

function claimAlways(command: Command): Command {
  return isOf(command.input, ITEMS.claim)
    ? rewritten(command, { ConditionExpression: 'attribute_exists(pk) OR attribute_not_exists(pk)' })
    : command
}

type Put = {
  readonly Item?: { readonly pk?: string; readonly sk?: string }
  readonly ConditionExpression?: string | undefined
}

type Update = Put & { readonly Key?: { readonly pk?: string } }

function changingPuts(command: Command, change: (put: Put) => readonly Put[]): Command {
  const { TransactItems } = command.input as { TransactItems?: readonly { readonly Put?: Put }[] }
  if (!TransactItems) return command
  const changed = TransactItems.flatMap((item) => (item.Put ? change(item.Put).map((Put) => ({ Put })) : [item]))
  return rewritten(command, { TransactItems: changed })
}

function isOf({ Item, Key }: Update, kind: string): boolean {
  return (Item ?? Key)?.pk?.startsWith(kind) === true
}

/** A claim is looked for when it should be made, and made when its act is. */
function claimAfterwards(send: Send): Send {
  const claims = new Map<string, Command>()
  return async (command) => {
    if (isOf(command.input, ITEMS.claim)) {
      const { TableName, Item } = command.input as {
        TableName: string
        Item: { pk: string; sk: string; actId: string }
      }
      const found = await send(new GetCommand({ TableName, Key: { pk: Item.pk, sk: Item.sk }, ConsistentRead: true }))
      if (found.Item) throw claimed(found.Item)
      claims.set(Item.actId, command)
      return {}
    }
    const result = await send(command)
    const { TransactItems = [] } = command.input as { TransactItems?: readonly { readonly Put?: Put }[] }
    for (const { Put } of TransactItems) {
      const claim = Put && isOf(Put, ITEMS.event) && claims.get(Put.Item?.sk ?? '')
      if (claim) await send(claim)
    }
    return result
  }
}

/** As the database says it. */
function claimed(item: object): Error {
  const name = 'ConditionalCheckFailedException'
  return Object.assign(new Error(name), { name, Item: marshall(item) })
}

function findNoEvent(send: Send): Send {
  return (command) =>
    isOf(command.input, ITEMS.event) && command.constructor.name === 'GetCommand' ? Promise.resolve({}) : send(command)
}

/** An update does something else. */
function changing(name: string, part: string, other: string): Variant {
  return {
    name,
    rewrite: (command) => {
      const { UpdateExpression: update } = command.input as Expressions
      return update?.includes(part) ? rewritten(command, { UpdateExpression: update.replace(part, other) }) : command
    },
  }
}

function forgetModels(send: Send): Send {
  const forgotten = (item: unknown) => (item ? { ...item, models: [] } : item)
  return async (command) => {
    const { Item, Attributes, ...rest } = await send(command)
    return { ...rest, Item: forgotten(Item), Attributes: forgotten(Attributes) }
  }
}

function releaseFirst(send: Send): Send {
  const rows = new Map<string, Command>()
  return async (command) => {
    const { Item, UpdateExpression, ExpressionAttributeValues } = command.input as Expressions & {
      ExpressionAttributeValues?: { ':open': Uint8Array }
    }
    if (Item?.requestId) {
      rows.set(Item.requestId, command)
      return {}
    }
    const result = await send(command)
    const released = UpdateExpression?.includes(RELEASED) && ExpressionAttributeValues?.[':open']
    const row = released && rows.get(requestIdIn(released))
    if (row) await send(row)
    return result
  }
}

function rewritten(command: Command, changes: Expressions): Command {
  return Object.assign(Object.create(Object.getPrototypeOf(command)), command, {
    input: { ...command.input, ...changes },
  })
}
