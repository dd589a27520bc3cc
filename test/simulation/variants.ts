import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { COUNTER_NAMES, COUNTERS, type CounterName, windowOf } from '../../layers/gateway/domain/admission/counters.ts'
import { CATALOG_HEAD, ITEMS } from '../../layers/gateway/names.ts'
import { counterWrite } from '../../layers/gateway/store/admission/admission-rules.ts'
import { ACCOUNT_VARIANTS } from './account-variants.ts'
import { CLOSING_VARIANTS } from './closing-variants.ts'
import {
  type Command,
  changing,
  changingWrites,
  type Input,
  isOf,
  reading,
  rewritten,
  type Send,
  unsent,
  type Variant,
} from './commands.ts'
import { LANE_VARIANTS } from './lane-variants.ts'
import { SELLING_VARIANTS } from './selling-variants.ts'
import { requestIdIn } from './stored-hold.ts'
import { URGENT_VARIANTS } from './urgent-variants.ts'

const RELEASED = 'DELETE openHolds'

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
  // As if events were written on their own, and the process died before.
  puttingElse('a change is made without its event', (put) => (isOf(put, ITEMS.event) ? undefined : put)),
  puttingElse('a secret is told that leads to no key', (put) => (isOf(put, ITEMS.hash) ? undefined : put)),
  // Nothing stops an act whose event, or whose grant, is there already.
  puttingElse('an act that is sent again is done again', (put) =>
    isOf(put, ITEMS.event) || put.Item?.sk?.startsWith('GRANT#') ? unconditional(put) : put,
  ),
  puttingElse('a reference is used again without a word', (put) =>
    isOf(put, ITEMS.reference) ? unconditional(put) : put,
  ),
  { name: 'an operator’s Idempotency-Key is claimed by two', rewrite: claimAlways },
  { name: 'an operator’s Idempotency-Key is claimed when its act is done', wrap: claimAfterwards },
  unsent(
    'an act that was done is not found again',
    (input, command) => isOf(input, ITEMS.event) && command === 'GetCommand',
  ),
  { name: 'an admission that is not answered is sent again', attempts: 3 },
  { name: 'the money moves before the row is written', wrap: releaseFirst },
  reading(
    'the models of a key are not looked at',
    () => true,
    (item) => ({ ...item, models: [] }),
  ),
  ...SELLING_VARIANTS,
  ...CLOSING_VARIANTS,
  ...URGENT_VARIANTS,
  ...ACCOUNT_VARIANTS,
  ...LANE_VARIANTS,
  { name: 'a correction takes what is not available', rewrite: takeAlways },
  { name: 'a push takes the place of another', rewrite: pushAlways },
  {
    name: 'a push is not told to who knows a catalog',
    rewrite: (command) =>
      changingWrites(command, 'Update', (update) => (update.Key?.sk === CATALOG_HEAD.sk ? undefined : update)),
  },
]

/** Each counter without its condition, without its count, keeping what should come back, and giving it back to a later window. */
function counterVariants(name: CounterName): Variant[] {
  const { take, giveBack } = counterWrite(name, COUNTERS[name])
  const set = `${take.replace(/if_not_exists\(.*\) \+ /, '')}, zero = :zero`
  return [
    without(`${name} is read, then written`, `#${name} <= :${name}Room`),
    changing(`${name} is set, not counted`, take, set),
    ...(giveBack ? [changing(`${name} gives nothing back`, giveBack, giveBack.replace(/ - :\w+$/, ''))] : []),
    ...(giveBack ? [givingBackNow(name, giveBack)] : []),
  ]
}

function givingBackNow(name: CounterName, giveBack: string): Variant {
  return {
    name: `${name} gives back to the window of the settlement`,
    rewrite: (command, nowMs) => {
      const { UpdateExpression, ExpressionAttributeNames } = command.input as Input
      if (!UpdateExpression?.includes(giveBack)) return command
      const window = { [`#${name}`]: `${COUNTERS[name].stored}:${windowOf(COUNTERS[name], nowMs)}` }
      return rewritten(command, { ExpressionAttributeNames: { ...ExpressionAttributeNames, ...window } })
    },
  }
}

/** Some conditions always hold. */
function without(name: string, ...conditions: readonly string[]): Variant {
  return {
    name,
    rewrite: (command) => {
      const { ConditionExpression: condition, TableName = '' } = command.input as Input
      if (!condition) return command
      const key = { usage: 'requestId', answers: 'id' }[TableName] ?? 'pk'
      const weaker = conditions.reduce(
        // The opposite of a condition is another rule, and stays.
        (text, part) =>
          text.includes(`NOT ${part}`) ? text : text.replace(part, `(${part} OR attribute_exists(${key}))`),
        condition,
      )
      return weaker === condition ? command : rewritten(command, { ConditionExpression: weaker })
    },
  }
}

/** A transaction puts something else, or leaves it out. */
function puttingElse(name: string, change: (put: Input) => Input | undefined): Variant {
  return { name, rewrite: (command) => changingWrites(command, 'Put', change) }
}

function unconditional({ ConditionExpression: _, ExpressionAttributeValues: __, ...put }: Input): Input {
  return put
}

function takeAlways(command: Command): Command {
  return changingWrites(command, 'Update', (update) => ({
    ...update,
    ConditionExpression: update.ConditionExpression?.replace('available >= :taken', ':taken = :taken'),
  }))
}

/** Two who saw the same catalog both push the next version. */
function pushAlways(command: Command): Command {
  const { TransactItems = [] } = command.input as Input
  if (!TransactItems.some(({ Update }) => Update && isOf(Update, ITEMS.catalog))) return command
  const weaker = changingWrites(command, 'Update', (update) => ({
    ...update,
    ConditionExpression: update.ConditionExpression && `${update.ConditionExpression} OR attribute_exists(pk)`,
  }))
  return changingWrites(weaker, 'Put', (put) => (isOf(put, ITEMS.versions) ? unconditional(put) : put))
}

function claimAlways(command: Command): Command {
  return isOf(command.input, ITEMS.claim)
    ? rewritten(command, { ConditionExpression: 'attribute_exists(pk) OR attribute_not_exists(pk)' })
    : command
}

/** A claim is looked for when it should be made, and made when its act is. */
function claimAfterwards(send: Send): Send {
  const claims = new Map<string, Command>()
  return async (command) => {
    const { TableName, Item, TransactItems = [] } = command.input as Input & { Item?: { actId: string } }
    if (Item && isOf(command.input, ITEMS.claim)) {
      const found = await send(new GetCommand({ TableName, Key: { pk: Item.pk, sk: Item.sk }, ConsistentRead: true }))
      if (found.Item) throw claimed(found.Item)
      claims.set(Item.actId, command)
      return {}
    }
    const result = await send(command)
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

function releaseFirst(send: Send): Send {
  const rows = new Map<string, Command>()
  return async (command) => {
    const { Item, UpdateExpression, ExpressionAttributeValues } = command.input as Input
    if (Item?.requestId) {
      rows.set(Item.requestId, command)
      return {}
    }
    const result = await send(command)
    const isReleased = UpdateExpression?.includes(RELEASED) === true
    const row = isReleased && rows.get(requestIdIn(ExpressionAttributeValues?.[':open'] as Uint8Array))
    if (row) await send(row)
    return result
  }
}
