import { type Command, changingWrites, type Input, rewritten, type Stored, unsent, type Variant } from './commands.ts'

const [TAKEN_IN, COUNTED_BACK] = ['drawn = :out', '#seen = :back']
const isUpdate = ({ UpdateExpression }: Input, part: string) => UpdateExpression?.includes(part) === true

/** Gateways that move the credits of an account, or tell its keys of it, otherwise than they should. */
export const ACCOUNT_VARIANTS: readonly Variant[] = [
  weaker(
    'a draw takes more than the pool has',
    'available >= :amount AND attribute_exists(#out)',
    'attribute_exists(#out)',
  ),
  {
    name: 'a draw is for a purse that is gone',
    rewrite: (command) => {
      const part = '#out = #out + :amount'
      const { ConditionExpression, UpdateExpression, ExpressionAttributeValues } = command.input as Input
      if (!isUpdate(command.input, part)) return command
      return rewritten(command, {
        ConditionExpression: ConditionExpression?.replace(' AND attribute_exists(#out)', ''),
        UpdateExpression: UpdateExpression?.replace(part, '#out = if_not_exists(#out, :none) + :amount') ?? '',
        ExpressionAttributeValues: { ...ExpressionAttributeValues, ':none': 0 },
      })
    },
  },
  weaker(
    'a purse gives back more than it has',
    'available >= :amount AND attribute_exists(accountId)',
    'attribute_exists(accountId)',
  ),
  weaker('a draw is taken in by everyone who sees it', 'drawn = :drawn', 'attribute_exists(accountId)', TAKEN_IN),
  weaker('a return is counted by everyone who sees it', '#seen = :seen', 'attribute_exists(#seen)', COUNTED_BACK),
  weaker(
    'a purse is forgotten while credits are on their way to it',
    '#out = :out AND #seen = :seen',
    ':out = :out AND :seen = :seen',
  ),
  weaker(
    'an account is left alone while credits are drawn',
    'drawn = :drawn AND granted',
    ':drawn = :drawn AND granted',
  ),
  twice('a draw is taken in twice', TAKEN_IN, 'attribute_exists(accountId)'),
  twice('a return is counted twice', COUNTED_BACK, 'attribute_exists(#seen)'),
  unsent('a draw that was cut off is taken in by nobody', (input) => isUpdate(input, TAKEN_IN)),
  unsent('a return that was cut off is counted by nobody', (input) => isUpdate(input, COUNTED_BACK)),
  changing('a purse does not keep the sum of its holds', 'heldEver = heldEver + :hold, ', ''),
  // Its held and spent credits stand for every hold ever, so nothing is known of what happens between two readings.
  readingPurses('a refusal is proven by one reading of the purses', (purses) =>
    purses.map((purse) => ({
      ...purse,
      heldEver: BigInt(purse.granted as bigint) - BigInt(purse.available as bigint),
    })),
  ),
  {
    name: 'a change of an account forgets a key',
    wrap: (send, process) => async (command) =>
      withPurses(await send(command), (purses) => (process === 'operator' ? purses.slice(1) : purses)),
  },
  {
    name: 'a change of an account that comes late takes back a later one',
    wrap: (send) => async (command) => {
      const answer = await send(command)
      const { Item } = answer as { Item?: Stored }
      return Item?.accountId === undefined ? answer : { ...answer, Item: { ...Item, statusVersion: 0 } }
    },
  },
  joiningElse('a key joins an account that was suspended meanwhile', (update) => ({
    ...update,
    ConditionExpression: update.ConditionExpression?.replace(
      'statusVersion = :statusVersion',
      ':statusVersion = :statusVersion',
    ),
  })),
  joiningElse('an adoption counts twice', (update) => ({
    ...update,
    UpdateExpression: update.UpdateExpression?.replace('SET ', 'SET available = available + :brought, ') ?? '',
  })),
  {
    name: 'a key is adopted without what it was granted meanwhile',
    rewrite: (command) =>
      changingWrites(command, 'Update', (update) => ({
        ...update,
        ConditionExpression: update.ConditionExpression?.replace(
          'AND granted = :granted AND',
          'AND :granted = :granted AND',
        ),
      })),
  },
]

/** A condition becomes another one, in updates that do something. */
function weaker(name: string, condition: string, other: string, update = ''): Variant {
  return {
    name,
    rewrite: (command) => {
      const { ConditionExpression = '' } = command.input as Input
      return ConditionExpression.startsWith(condition) && isUpdate(command.input, update)
        ? withCondition(command, ConditionExpression.replace(condition, other))
        : command
    },
  }
}

/** Each value must still be used. */
function withCondition(command: Command, ConditionExpression: string): Command {
  const { ExpressionAttributeValues: values = {}, UpdateExpression = '' } = command.input as Input
  const used = Object.entries(values).filter(([name]) =>
    new RegExp(`${name}\\b`).test(`${ConditionExpression} ${UpdateExpression}`),
  )
  return rewritten(command, { ConditionExpression, ExpressionAttributeValues: Object.fromEntries(used) })
}

function twice(name: string, update: string, condition: string): Variant {
  return {
    name,
    wrap: (send) => async (command) => {
      if (!isUpdate(command.input, update)) return send(command)
      await send(withCondition(command, condition))
      return send(withCondition(command, condition))
    },
  }
}

function changing(name: string, part: string, other: string): Variant {
  return {
    name,
    rewrite: (command) => {
      const { UpdateExpression: update } = command.input as Input
      return update?.includes(part) ? rewritten(command, { UpdateExpression: update.replace(part, other) }) : command
    },
  }
}

function joiningElse(name: string, change: (update: Input) => Input): Variant {
  const isJoining = ({ UpdateExpression }: Input) => UpdateExpression?.includes('keyCount + :one') === true
  return {
    name,
    rewrite: (command) => changingWrites(command, 'Update', (update) => (isJoining(update) ? change(update) : update)),
  }
}

function readingPurses(name: string, change: (purses: readonly Stored[]) => readonly Stored[]): Variant {
  return { name, wrap: (send) => async (command) => withPurses(await send(command), change) }
}

function withPurses(answer: Record<string, unknown>, change: (purses: readonly Stored[]) => readonly Stored[]) {
  const { keys } = (answer.Responses ?? {}) as { keys?: readonly Stored[] }
  return keys ? { ...answer, Responses: { keys: change(keys) } } : answer
}
