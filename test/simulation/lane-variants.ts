import { twice, weaker } from './account-variants.ts'
import { type Command, type Input, rewritten, type Stored, type Variant } from './commands.ts'

/** The writes of a lane, by what they do. */
type Kind = 'bring' | 'begin' | 'plan' | 'open'

const OPENED = 'deal = :deal AND isClosed = :closed'

/** Gateways that deal out limits, or bring changes to the lanes of a key, otherwise than they should. */
export const LANE_VARIANTS: readonly Variant[] = [
  {
    name: 'a revoke forgets a lane',
    wrap: (send, process) => (command) => {
      const isForgotten = process === 'operator' && isLane(command, 1) && valueIn(command, 'status') === 'revoked'
      return send(isForgotten && kindOf(command) === 'bring' ? leavingAll(command) : command)
    },
  },
  wholeLimits('each lane has the whole of what is counted', (values, lane) => {
    const roomOf = (name: string, taken: unknown) =>
      values[`:${name}Room`] !== undefined &&
      lane[name] !== undefined && { [`:${name}Room`]: BigInt(lane[name] as number) - BigInt(taken as number) }
    return {
      ...roomOf('dailyLimit', 1),
      ...roomOf('dailyCredits', values[':hold']),
      ...roomOf('monthlyCredits', values[':hold']),
      ...roomOf('tpm', values[':tokens']),
    }
  }),
  wholeLimits('each lane has the whole rate', (values, lane) => {
    const [rpm, nowUs] = [Number(lane.rpm), Number(values[':nowUs'])]
    const interval = Math.ceil(60_000_000 / rpm)
    return {
      ...(values[':interval'] !== undefined && { ':interval': interval }),
      ...(values[':firstTaken'] !== undefined && { ':firstTaken': nowUs + interval }),
      ...(values[':lastTakeable'] !== undefined && { ':lastTakeable': nowUs + (rpm - 1) * interval }),
    }
  }),
  wholeLimits('each lane has all requests at once', (_, { maxConcurrent }) => ({ ':maxConcurrent': maxConcurrent })),
  changingLane('a deal does not close the lanes first', (command) => {
    if (kindOf(command) === 'bring') return without(command, 'isClosed')
    return kindOf(command) === 'open' ? openingIf(command, 'deal = :deal AND :closed = :closed') : command
  }),
  {
    // Each that goes on with it counts what was given back since.
    name: 'a plan is not recorded',
    wrap: (send) => (command) => {
      if (kindOf(command) === 'plan') return send(leavingAll(command))
      return send(openingUnder(command, 'attribute_exists(dealing) AND :dealing = :dealing'))
    },
  },
  changingLane('a lane is opened again by everyone who sees a deal', (command) =>
    kindOf(command) === 'open'
      ? openingIf(command, 'deal = :deal AND (isClosed = :closed OR attribute_exists(pk))')
      : command,
  ),
  changingLane('new lanes begin with full buckets', (command) =>
    kindOf(command) === 'open' ? without(command, 'bucketFullAtUs') : command,
  ),
  onLanes(twice('a draw is taken in twice by a lane', 'drawn = :out', 'attribute_exists(accountId)')),
  onLanes(
    weaker(
      'a draw is taken in by everyone who sees it on a lane',
      'drawn = :drawn',
      'attribute_exists(accountId)',
      'drawn = :out',
    ),
  ),
  changingLane('a lane that goes takes more requests', (command) =>
    kindOf(command) === 'bring' && laneOf(command) >= Number(valueIn(command, 'lanes') ?? 1)
      ? without(command, 'isClosed')
      : command,
  ),
  {
    name: 'a lane refuses without a look at the others',
    wrap: (send, process) => async (command) => {
      const answer = await send(command)
      const { keys } = (answer.Responses ?? {}) as { keys?: readonly Stored[] }
      if (!keys || process === 'operator' || process === 'node 9') return answer
      const full = keys.map((item) => (item.sk === 'LANE' ? { ...item, rpm: 0 } : item))
      return { ...answer, Responses: { keys: full } }
    },
  },
  {
    name: 'a deal that was cut off is brought to its end by nobody',
    wrap: (send, process) => (command) =>
      send(kindOf(command) === 'open' && process !== 'operator' ? leavingAll(command) : command),
  },
  {
    name: 'a change of lanes stays on the first one if it was cut off',
    wrap: (send, process) => (command) =>
      send(kindOf(command) === 'bring' && process !== 'operator' ? leavingAll(command) : command),
  },
]

function kindOf({ input, constructor: { name } }: Command): Kind | undefined {
  const { ConditionExpression: condition = '', Key } = input as Input
  if (name !== 'UpdateCommand') return undefined
  if (condition.startsWith(OPENED)) return 'open'
  if (condition === 'deal = :deal AND dealing = :before') return 'plan'
  const isNew = condition === 'attribute_not_exists(pk)'
  if (condition !== 'version = :known' && !isNew) return undefined
  return Key?.sk === 'LANE' ? 'bring' : 'begin'
}

function laneOf({ input }: Command): number {
  return Number((input as Input).Key?.pk?.split('.')[1] ?? 0)
}

const isLane = (command: Command, index: number) => laneOf(command) === index

function nameOf({ input }: Command, attribute: string): string | undefined {
  const names = Object.entries((input as Input).ExpressionAttributeNames ?? {})
  return names.find(([, name]) => name === attribute)?.[0]
}

function valueIn(command: Command, attribute: string): unknown {
  const name = nameOf(command, attribute)
  return name && (command.input as Input).ExpressionAttributeValues?.[name.replace('#n', ':v')]
}

/** It is answered as if it had been made. */
function leavingAll(command: Command): Command {
  return rewritten(command, {
    ConditionExpression: undefined,
    UpdateExpression: 'SET bucketFullAtUs = bucketFullAtUs',
    ExpressionAttributeNames: undefined,
    ExpressionAttributeValues: undefined,
  })
}

/** An attribute is neither set nor removed. */
function without(command: Command, attribute: string): Command {
  const {
    UpdateExpression = '',
    ExpressionAttributeNames = {},
    ExpressionAttributeValues = {},
  } = command.input as Input
  const name = nameOf(command, attribute)
  if (!name) return command
  const [set = '', gone = ''] = UpdateExpression.replace(/^SET /, '').split(' REMOVE ')
  const isOther = (part: string) => part !== '' && part.split(' = ')[0] !== name
  const [kept, removed] = [set.split(', ').filter(isOther), gone.split(', ').filter(isOther)]
  const { [name]: _, ...names } = ExpressionAttributeNames
  const { [name.replace('#n', ':v')]: __, ...values } = ExpressionAttributeValues
  return rewritten(command, {
    UpdateExpression: `SET ${kept.join(', ')}${removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : ''}`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  })
}

function openingIf(command: Command, condition: string): Command {
  const { ConditionExpression = '' } = command.input as Input
  return rewritten(command, { ConditionExpression: ConditionExpression.replace(OPENED, condition) })
}

function openingUnder(command: Command, condition: string): Command {
  const { ConditionExpression = '' } = command.input as Input
  return kindOf(command) === 'open'
    ? rewritten(command, { ConditionExpression: ConditionExpression.replace('dealing = :dealing', condition) })
    : command
}

function changingLane(name: string, rewrite: (command: Command) => Command): Variant {
  return { name, rewrite }
}

/** The fault, on lanes other than the first one. */
function onLanes({ name, rewrite, wrap }: Variant): Variant {
  const isOf = ({ input }: Command) => (input as Input).Key?.sk === 'LANE'
  return {
    name,
    ...(rewrite && { rewrite: (command, nowMs) => (isOf(command) ? rewrite(command, nowMs) : command) }),
    ...(wrap && {
      wrap: (send, process) => {
        const wrapped = wrap(send, process)
        return (command) => (isOf(command) ? wrapped : send)(command)
      },
    }),
  }
}

/** Admissions go by the limits of the key in place of a lane's part of them. */
function wholeLimits(name: string, change: (values: Stored, lane: Stored) => Stored): Variant {
  // A process has two clients: one reads a lane, the other writes it.
  const seen = new Map<unknown, Stored>()
  const see = (item: unknown) => {
    const { pk, rpm } = (item ?? {}) as Stored
    if (pk !== undefined && rpm !== undefined) seen.set(pk, item as Stored)
  }
  return {
    name,
    wrap: (send) => {
      return async (command) => {
        const { UpdateExpression, Key, ExpressionAttributeValues: values = {} } = command.input as Input
        const lane = UpdateExpression?.includes('ADD openHolds') ? seen.get(Key?.pk) : undefined
        const isOfLane = lane?.deal !== undefined
        const answer = await send(
          isOfLane
            ? rewritten(command, { ExpressionAttributeValues: { ...values, ...change(values, lane) } })
            : command,
        )
        for (const item of [answer.Item, answer.Attributes]) see(item)
        for (const item of (answer.Responses as { keys?: readonly Stored[] })?.keys ?? []) see(item)
        return answer
      }
    },
  }
}
