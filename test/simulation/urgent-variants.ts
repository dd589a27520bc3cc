import { DeleteCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { ITEMS } from '../../layers/gateway/names.ts'
import { eventItems, toEvent } from '../../layers/gateway/store/events/events.ts'
import type { Command, Send, Variant } from './variants.ts'

type Stored = Readonly<Record<string, unknown>>
type Input = {
  readonly TableName?: string
  readonly Key?: { readonly pk?: string }
  readonly Item?: { readonly pk?: string; readonly sk: string }
  readonly ConditionExpression?: string
  readonly UpdateExpression?: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Stored
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Gateways that do the changes which must win over requests, or move their events, otherwise than they should. */
export const URGENT_VARIANTS: readonly Variant[] = [
  { name: 'a revoke is a transaction', wrap: inTransaction },
  { name: 'the event of a revoke is written after it', wrap: putEventAfterwards },
  { name: 'an event leaves its key before it is moved', wrap: forgetFirst },
  { name: 'an event is moved under another id by everyone who moves it', wrap: moveUnderOwnId },
  { name: 'the secrets of a revoked key still lead to it', wrap: deleteNoPointer },
  { name: 'a suspended key is admitted', rewrite: admitSuspended },
  { name: 'a suspension is answered and not made', wrap: leaveOut('suspended') },
  { name: 'a resumption is answered and not made', wrap: leaveOut('active') },
  { name: 'a suspension undoes a revoke', rewrite: suspendAlways },
]

const ADMITS = /(version = :version AND )?#status = :active/

function admitSuspended(command: Command): Command {
  const { ConditionExpression: condition = '', ExpressionAttributeValues: values } = command.input as Input
  if (!ADMITS.test(condition)) return command
  return withInput(command, {
    ConditionExpression: condition.replace(ADMITS, '(($&) OR #status = :suspended)'),
    ExpressionAttributeValues: { ...values, ':suspended': 'suspended' },
  })
}

/** The status that an act gives to a key. */
function statusSetBy({ ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }: Input): unknown {
  const name = Object.keys(names).find((one) => names[one] === 'status' && one.startsWith('#set'))
  return name && values[name.replace('#', ':')]
}

function leaveOut(status: string): (send: Send) => Send {
  return (send) => (command) => (statusSetBy(command.input) === status ? Promise.resolve({}) : send(command))
}

function suspendAlways(command: Command): Command {
  return statusSetBy(command.input) === 'suspended'
    ? withInput(command, { ConditionExpression: 'version = :version OR attribute_exists(pk)' })
    : command
}

function withInput(command: Command, input: Input): Command {
  return Object.assign(Object.create(Object.getPrototypeOf(command)), command, {
    input: { ...command.input, ...input },
  })
}

/** The value by which an update keeps events on a key's item. */
function keptBy({ ExpressionAttributeNames: names = {} }: Input): string | undefined {
  return Object.keys(names).find((name) => names[name] === 'pendingEvents' && name.startsWith('#set'))
}

function inTransaction(send: Send): Send {
  return (command) =>
    keptBy(command.input)
      ? send(new TransactWriteCommand({ TransactItems: [{ Update: command.input as never }] }))
      : send(command)
}

function putEventAfterwards(send: Send): Send {
  return async (command) => {
    const name = keptBy(command.input)
    if (!name) return send(command)
    const { TableName, Key, ExpressionAttributeValues: values = {} } = command.input as Input
    const kept = (values[name.replace('#', ':')] as Stored[]).at(-1) as Stored
    const event = toEvent({ ...kept, keyId: Key?.pk?.slice(ITEMS.key.length) })
    const result = await send(withoutSetting(command, name))
    for (const Item of eventItems(event)) await send(new PutCommand({ TableName, Item }))
    for (const { pk, sk } of kept.pointers as Stored[]) await send(new DeleteCommand({ TableName, Key: { pk, sk } }))
    return result
  }
}

function withoutSetting(command: Command, name: string): Command {
  const { UpdateExpression = '', ExpressionAttributeNames, ExpressionAttributeValues } = command.input as Input
  const value = name.replace('#', ':')
  const { [name]: _, ...names } = ExpressionAttributeNames ?? {}
  const { [value]: __, ...values } = ExpressionAttributeValues ?? {}
  return withInput(command, {
    UpdateExpression: UpdateExpression.replace(`, ${name} = ${value}`, ''),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  })
}

function isMove({ constructor: { name }, input }: Command): boolean {
  return name === 'PutCommand' && (input as Input).Item?.pk?.startsWith(ITEMS.event) === true
}

function forgetFirst(send: Send): Send {
  let moves: Command[] = []
  return async (command) => {
    if (isMove(command)) {
      moves.push(command)
      return {}
    }
    const result = await send(command)
    if (!(command.input as Input).UpdateExpression?.includes('REMOVE pendingEvents')) return result
    const moved = moves
    moves = []
    for (const move of moved) await send(move)
    return result
  }
}

function moveUnderOwnId(send: Send): Send {
  const mark = DIGITS[Math.floor(Math.random() * DIGITS.length)]
  return (command) => {
    const { TableName, Item, ...rest } = command.input as Input
    if (!Item || !isMove(command)) return send(command)
    return send(
      new PutCommand({ ...rest, TableName, Item: { ...Item, sk: `${Item.sk.slice(0, -1)}${mark}` } } as never),
    )
  }
}

function deleteNoPointer(send: Send): Send {
  return (command) => {
    const isPointer = (command.input as Input).TableName === 'keys' && command.constructor.name === 'DeleteCommand'
    return isPointer ? Promise.resolve({}) : send(command)
  }
}
