import {
  type Command,
  changing,
  changingWrites,
  type Input,
  reading,
  rewritten,
  type Stored,
  unsent,
  type Variant,
} from './commands.ts'
import { nano } from './ledger.ts'

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
  // The sum of its holds is only that of what it holds or has spent, so nothing is known of what happens between two readings.
  readingPurses('a refusal is proven by one reading of the purses', (purses) =>
    purses.map((purse) => ({ ...purse, heldEver: nano(purse.granted) - nano(purse.available) })),
  ),
  readingPurses('a change of an account forgets a key', (purses, process) =>
    process === 'operator' ? purses.slice(1) : purses,
  ),
  reading(
    'a change of an account that comes late takes back a later one',
    (_, command) => command === 'GetCommand',
    (item) => (item.accountId === undefined ? item : { ...item, statusVersion: 0 }),
  ),
  updatingElse('a key joins an account that was suspended meanwhile', 'ConditionExpression', [
    'statusVersion = :statusVersion AND',
    ':statusVersion = :statusVersion AND',
  ]),
  updatingElse('an adoption counts twice', 'UpdateExpression', [
    'SET #out0 = :brought,',
    'SET #out0 = :brought, available = available + :brought,',
  ]),
  updatingElse('a key is adopted without what it was granted meanwhile', 'ConditionExpression', [
    'AND granted = :granted AND #status',
    'AND :granted = :granted AND #status',
  ]),
]

/** A condition becomes another one, in updates that do something. */
export function weaker(name: string, condition: string, other: string, update = ''): Variant {
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

export function twice(name: string, update: string, condition: string): Variant {
  return {
    name,
    wrap: (send) => async (command) => {
      if (!isUpdate(command.input, update)) return send(command)
      await send(withCondition(command, condition))
      return send(withCondition(command, condition))
    },
  }
}

/** A part of an update in a transaction becomes another one. */
function updatingElse(
  name: string,
  field: 'ConditionExpression' | 'UpdateExpression',
  [part, other]: readonly [string, string],
): Variant {
  const hasPart = (update: Input | undefined) => update?.[field]?.includes(part) === true
  const change = (update: Input) =>
    hasPart(update) ? { ...update, [field]: update[field]?.replace(part, other) } : update
  return {
    name,
    rewrite: (command) =>
      (command.input as Input).TransactItems?.some(({ Update }) => hasPart(Update))
        ? changingWrites(command, 'Update', change)
        : command,
  }
}

type ChangePurses = (purses: readonly Stored[], process: string) => readonly Stored[]

function readingPurses(name: string, change: ChangePurses): Variant {
  return {
    name,
    wrap: (send, process) => async (command) => {
      const answer = await send(command)
      const { keys } = (answer.Responses ?? {}) as { keys?: readonly Stored[] }
      return keys ? { ...answer, Responses: { keys: change(keys, process) } } : answer
    },
  }
}
