import { DeleteCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { ITEMS } from '../../layers/gateway/names.ts'
import { eventItems, toEvent } from '../../layers/gateway/store/events/events.ts'
import { type Command, type Input, isOf, rewritten, type Send, type Stored, unsent, type Variant } from './commands.ts'
import { DIGITS } from './stored-hold.ts'

/** Gateways that do the changes which must win over requests, or move their events, otherwise than they should. */
export const URGENT_VARIANTS: readonly Variant[] = [
  { name: 'a revoke is a transaction', wrap: inTransaction },
  { name: 'the event of a revoke is written after it', wrap: putEventAfterwards },
  { name: 'an event leaves its key before it is moved', wrap: forgetFirst },
  { name: 'an event is moved under another id by everyone who moves it', wrap: moveUnderOwnId },
  unsent(
    'the secrets of a revoked key still lead to it',
    ({ TableName }, command) => TableName === 'keys' && command === 'DeleteCommand',
  ),
  { name: 'a suspended key is admitted', rewrite: admitSuspended },
  unsent('a suspension is answered and not made', (input) => statusSetBy(input) === 'suspended'),
  unsent('a resumption is answered and not made', (input) => statusSetBy(input) === 'active'),
  { name: 'a suspension undoes a revoke', rewrite: suspendAlways },
]

const ADMITS = /(version = :version AND )?#status = :active/

function admitSuspended(command: Command): Command {
  const { ConditionExpression: condition = '', ExpressionAttributeValues: values } = command.input as Input
  if (!ADMITS.test(condition)) return command
  return rewritten(command, {
    ConditionExpression: condition.replace(ADMITS, '(($&) OR #status = :suspended)'),
    ExpressionAttributeValues: { ...values, ':suspended': 'suspended' },
  })
}

/** The name by which an update sets a field. */
function setterOf(field: string, { ExpressionAttributeNames: names = {} }: Input): string | undefined {
  return Object.keys(names).find((name) => names[name] === field && name.startsWith('#set'))
}

/** The status that an act gives to a key. */
function statusSetBy(input: Input): unknown {
  const name = setterOf('status', input)
  return name && input.ExpressionAttributeValues?.[name.replace('#', ':')]
}

function suspendAlways(command: Command): Command {
  return statusSetBy(command.input) === 'suspended'
    ? rewritten(command, { ConditionExpression: 'version = :version OR attribute_exists(pk)' })
    : command
}

function inTransaction(send: Send): Send {
  return (command) =>
    setterOf('pendingEvents', command.input)
      ? send(new TransactWriteCommand({ TransactItems: [{ Update: command.input as never }] }))
      : send(command)
}

function putEventAfterwards(send: Send): Send {
  return async (command) => {
    const name = setterOf('pendingEvents', command.input)
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
  return rewritten(command, {
    UpdateExpression: UpdateExpression.replace(`, ${name} = ${value}`, ''),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  })
}

function isMove({ constructor: { name }, input }: Command): boolean {
  return name === 'PutCommand' && isOf(input, ITEMS.event)
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
    const { Item } = command.input as Input
    if (!isMove(command)) return send(command)
    return send(rewritten(command, { Item: { ...Item, sk: `${Item?.sk?.slice(0, -1)}${mark}` } }))
  }
}
