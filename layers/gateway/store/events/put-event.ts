import type { ChangeEvent } from '../../domain/change-event.ts'
import type { OperatorTables } from '../operator-tables.ts'
import type { TransactItem } from '../transact.ts'
import { eventItems } from './event-item.ts'

/** For the transaction that makes the change. The event of an act that was done before stops the transaction. */
export function putEvent({ keys }: Pick<OperatorTables, 'keys'>, event: ChangeEvent): TransactItem[] {
  return eventItems(event).map((Item) => ({
    Put: { TableName: keys, Item, ConditionExpression: 'attribute_not_exists(pk)' },
  }))
}
