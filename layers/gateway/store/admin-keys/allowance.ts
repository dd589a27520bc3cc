import { utcDay } from '../../domain/basics/time.ts'
import type { AdminKey } from '../../domain/keys/admin-key.ts'
import type { Nano } from '../../domain/money/money.ts'
import { ITEMS } from '../../names.ts'
import type { Tables, TransactItem } from '../dynamodb/database.ts'
import { toNano } from '../keys/key-item.ts'
import { readOne } from '../keys/rotating-item.ts'
import { ADMIN_KEY_ITEMS, adminKeyItem } from './admin-key-item.ts'

export type Allowance = ReturnType<typeof allowanceAt>

/** The admin key has granted all that it may on this day, or is revoked. */
export class OverAllowance extends Error {
  override readonly name = 'OverAllowance'
}

const KEPT_SECONDS = 60 * 24 * 60 * 60

export function allowanceAt({ id, dailyGrant }: AdminKey, nowMs: number) {
  return { adminKeyId: id, dailyGrant, day: utcDay(nowMs) }
}

const counterItem = ({ adminKeyId, day }: Allowance) => ({ pk: `${ITEMS.adminGrants}${adminKeyId}`, sk: day })

/** Makes the transaction of a grant fail if the key would grant more than it may on the day, or is revoked. */
export function takeAllowance({ keys }: Tables, allowance: Allowance, amount: Nano): TransactItem[] {
  const { adminKeyId, dailyGrant, day } = allowance
  // The first grant of a day has no counter to be compared with.
  if (amount > dailyGrant) throw overAllowance(allowance)
  return [
    {
      ConditionCheck: {
        TableName: keys,
        Key: adminKeyItem(adminKeyId),
        ConditionExpression: '#status = :active',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':active': 'active' },
      },
    },
    {
      Update: {
        TableName: keys,
        Key: counterItem(allowance),
        ConditionExpression: 'attribute_not_exists(granted) OR granted <= :room',
        UpdateExpression: 'SET expiresAt = :expiresAt ADD granted :amount',
        ExpressionAttributeValues: {
          ':room': dailyGrant - amount,
          ':amount': amount,
          ':expiresAt': Date.parse(day) / 1000 + KEPT_SECONDS,
        },
      },
    },
  ]
}

export async function requireAllowance(tables: Tables, allowance: Allowance, amount: Nano): Promise<void> {
  const key = await readOne(tables, ADMIN_KEY_ITEMS)(allowance.adminKeyId)
  const granted = await grantedOnDay(tables)(allowance)
  if (key?.status !== 'active' || granted + amount > allowance.dailyGrant) throw overAllowance(allowance)
}

export function grantedOnDay({ database, keys }: Tables): (allowance: Allowance) => Promise<Nano> {
  return async (allowance) => {
    const { Item } = await database.get({ TableName: keys, Key: counterItem(allowance), ConsistentRead: true })
    return toNano(Item?.granted ?? 0)
  }
}

function overAllowance({ adminKeyId, day }: Allowance): OverAllowance {
  return new OverAllowance(`The admin key ${adminKeyId} may not grant so much more on ${day} (UTC), or is revoked.`)
}
