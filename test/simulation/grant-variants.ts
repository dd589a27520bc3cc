import { ITEMS } from '../../layers/gateway/names.ts'
import type { Command, Variant } from './variants.ts'

/** Gateways that grant and correct without a condition. */
export const GRANT_VARIANTS: readonly Variant[] = [
  { name: 'a correction takes what is not available', rewrite: changing('Update', takeAlways) },
  { name: 'a reference is used again without a word', rewrite: changing('Put', referAlways) },
]

type Write = {
  readonly Item?: { readonly pk: string }
  readonly ConditionExpression?: string
  readonly ExpressionAttributeValues?: object
}

function takeAlways(update: Write): Write {
  const condition = update.ConditionExpression?.replace('available >= :taken', ':taken = :taken')
  return condition === undefined ? update : { ...update, ConditionExpression: condition }
}

function referAlways(put: Write): Write {
  if (!put.Item?.pk.startsWith(ITEMS.reference)) return put
  const { ConditionExpression: _, ExpressionAttributeValues: __, ...rest } = put
  return rest
}

/** The writes of one kind in a transaction. */
function changing(kind: 'Put' | 'Update', change: (write: Write) => Write): (command: Command) => Command {
  return (command) => {
    const { TransactItems } = command.input as { TransactItems?: readonly { readonly [Kind in typeof kind]?: Write }[] }
    if (!TransactItems) return command
    const changed = TransactItems.map((item) => (item[kind] ? { [kind]: change(item[kind]) } : item))
    return Object.assign(Object.create(Object.getPrototypeOf(command)), command, {
      input: { ...command.input, TransactItems: changed },
    })
  }
}
