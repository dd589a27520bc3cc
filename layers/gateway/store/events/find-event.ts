import type { ChangeEvent } from '../../domain/change-event.ts'
import type { Tables } from '../tables.ts'
import { eventItem, toEvent } from './event-item.ts'

/** The event of an act on a key, or on the catalog: it exists if the act was done. */
type FindEvent = (of: string, actId: string) => Promise<ChangeEvent | undefined>

export function findEvent({ database, keys }: Tables): FindEvent {
  return async (of, actId) => {
    const { Item } = await database.get({ TableName: keys, Key: eventItem(of, actId), ConsistentRead: true })
    return Item && toEvent(Item)
  }
}
