import { DAY_MS, isoTime } from '../../domain/basics/time.ts'
import type { Notice, Owner } from '../../domain/keys/notice.ts'
import { type DELIVERY_STATES, NOTICE_LOG } from '../../names.ts'
import { updateIf } from '../dynamodb/conditional-writes.ts'
import { type Item, queryItems, type Tables } from '../dynamodb/database.ts'

type Noted = {
  readonly [Name in 'type' | 'owner_id' | 'owner_name' | 'last_at']: string
} & {
  readonly status: (typeof DELIVERY_STATES)[number]
  readonly tries: number
  readonly by: string | null
  readonly error: string | null
}
export type Delivery = ReturnType<typeof toDelivery>

const KEPT_DAYS = 30
const MOST_ERROR_CHARS = 200

type Try =
  | { readonly status: 'told'; readonly by: string }
  | { readonly status: 'failed'; readonly error: string }
  | { readonly status: 'given_up' }

/** One that was told stays so, if another sweep tells it again and fails; one that is given up keeps its error. */
export function noteDelivery(tables: Tables) {
  return async (notice: Notice, owner: Owner, tried: Try, nowMs: number): Promise<void> => {
    const set: Item = {
      type: notice.what,
      owner_id: owner.id,
      owner_name: owner.name,
      last_at: isoTime(nowMs),
      ...tried,
      ...(tried.status === 'told' && { error: null }),
      ...(tried.status === 'failed' && { error: tried.error.slice(0, MOST_ERROR_CHARS) }),
      expiresAt: Math.ceil((nowMs + KEPT_DAYS * DAY_MS) / 1000),
    }
    const names = Object.keys(set)
    const values = names.map((name) => [`:${name}`, set[name]])
    const tries = tried.status === 'given_up' ? 0 : 1
    const Key = { pk: NOTICE_LOG, sk: notice.id }
    await updateIf(tables, Key, {
      ConditionExpression: 'attribute_not_exists(#status) OR #status <> :told OR :status = :told',
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')} ADD tries :tries`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: { ...Object.fromEntries(values), ':told': 'told', ':tries': tries },
    })
  }
}

/** Newest first, read as far as the caller goes. */
export function listDeliveries({ database, keys }: Tables) {
  return (beforeId = '~') => {
    const input = {
      TableName: keys,
      KeyConditionExpression: 'pk = :log AND sk < :before',
      ExpressionAttributeValues: { ':log': NOTICE_LOG, ':before': beforeId },
      ScanIndexForward: false,
      Limit: 100,
    }
    return queryItems(database, input, toDelivery)
  }
}

function toDelivery({ pk: _, sk: id, expiresAt: __, ...delivery }: Item) {
  return { object: 'notice' as const, id: id as string, ...({ by: null, error: null, ...delivery } as Noted) }
}
