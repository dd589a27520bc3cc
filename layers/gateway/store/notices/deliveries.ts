import { DAY_MS, isoTime } from '../../domain/basics/time.ts'
import type { Notice, Owner } from '../../domain/keys/notice.ts'
import { type DELIVERY_STATES, NOTICE_LOG } from '../../names.ts'
import { updateIf } from '../dynamodb/conditional-writes.ts'
import { type Item, queryItems } from '../dynamodb/database.ts'
import type { Tables } from '../dynamodb/tables.ts'

type State = (typeof DELIVERY_STATES)[number]
const KEPT_DAYS = 30
const MOST_ERROR_CHARS = 200

export type Delivery = ReturnType<typeof toDelivery>

/** Notes a try to tell a notice. One that was told stays so, if another sweep tells it again and fails. */
export function noteDelivery(tables: Tables) {
  return async ({ id, what }: Notice, owner: Owner, state: State, nowMs: number, error?: unknown): Promise<void> => {
    const words = error === undefined ? '' : (error as Error).message.slice(0, MOST_ERROR_CHARS)
    await updateIf(
      tables,
      { pk: NOTICE_LOG, sk: id },
      {
        ConditionExpression: 'attribute_not_exists(#state) OR #state <> :told OR :state = :told',
        UpdateExpression:
          'SET what = :what, ownerId = :owner, ownerName = :name, #state = :state, lastError = :error, lastAt = :at, expiresAt = :until ADD tries :one',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: {
          ':what': what,
          ':owner': owner.id,
          ':name': owner.name,
          ':state': state,
          ':told': 'told',
          ':error': words,
          ':at': isoTime(nowMs),
          ':until': Math.ceil((nowMs + KEPT_DAYS * DAY_MS) / 1000),
          ':one': state === 'given_up' ? 0 : 1,
        },
      },
    )
  }
}

/** Newest first, read as far as the caller goes. */
export function listDeliveries({ database, keys }: Tables) {
  return (beforeId = '~') =>
    queryItems(
      database,
      {
        TableName: keys,
        KeyConditionExpression: 'pk = :log AND sk < :before',
        ExpressionAttributeValues: { ':log': NOTICE_LOG, ':before': beforeId },
        ScanIndexForward: false,
        Limit: 100,
      },
      toDelivery,
    )
}

function toDelivery({ sk, what, ownerId, ownerName, state, tries, lastAt, lastError }: Item) {
  return {
    object: 'notice' as const,
    id: sk as string,
    type: what as string,
    owner_id: ownerId as string,
    owner_name: ownerName as string,
    status: state as State,
    tries: Number(tries),
    last_at: lastAt as string,
    error: (lastError as string) || null,
  }
}
