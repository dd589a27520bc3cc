import { USAGE_ITEMS } from '../../names.ts'
import { ifConditionHolds } from '../dynamodb/failures.ts'
import type { Tables } from '../dynamodb/tables.ts'

export type Closing = {
  /** Up to and including this day, every key with rows has its total. */
  readonly closedThrough?: string
  readonly exportedThrough?: string
  /** Up to and including this hour, the requests of all keys are added up. */
  readonly summedThrough?: string
  /** Hours that are added up again, because a row came late. */
  readonly again?: HourRange
  /** The day that is being exported, and the row with which the next part begins. */
  readonly exporting?: ExportCursor
  /** Rows do not expire, because a day is not exported for long. */
  readonly isExpiryOff?: boolean
}

/** Both hours are included. */
export type HourRange = { readonly from: string; readonly to: string }

/** All keys before this one are exported, and of this one so many rows: those that began before a time. */
export type ExportCursor = {
  readonly day: string
  readonly part: number
  readonly keyId: string
  readonly beforeMs: number
  readonly rows: number
}

const CLOSING = `${USAGE_ITEMS.day}CLOSING`
export const CLOSING_ITEM = { part: CLOSING, requestId: CLOSING }

export function readClosing({ database, usage }: Tables) {
  return async (): Promise<Closing> => {
    const { Item = {} } = await database.get({ TableName: usage, Key: CLOSING_ITEM, ConsistentRead: true })
    const { part: _, requestId: __, ...closing } = Item
    return closing
  }
}

/** The index by key may lag behind the table by a moment: rows younger than this may be missing from it. */
export const INDEX_LAG_MS = 60_000

type Noted =
  | { readonly closedThrough: string }
  | { readonly exportedThrough: string }
  | { readonly summedThrough: string }
  | { readonly again: HourRange | undefined }
  | { readonly exporting: ExportCursor }
  | { readonly isExpiryOff: boolean }

/** Notes the progress of a run. Of two concurrent runs, the slower one takes nothing back. */
export function noteClosing({ database, usage }: Tables) {
  return async (noted: Noted): Promise<void> => {
    await ifConditionHolds(database.update({ TableName: usage, Key: CLOSING_ITEM, ...writeOf(noted) }))
  }
}

function writeOf(noted: Noted) {
  if ('isExpiryOff' in noted) {
    return {
      UpdateExpression: 'SET isExpiryOff = :isOff',
      ExpressionAttributeValues: { ':isOff': noted.isExpiryOff },
    }
  }
  if ('exporting' in noted) {
    return {
      UpdateExpression: 'SET exporting = :place',
      ExpressionAttributeValues: { ':place': noted.exporting },
    }
  }
  if ('again' in noted) {
    return noted.again === undefined
      ? { UpdateExpression: 'REMOVE again' }
      : { UpdateExpression: 'SET again = :hours', ExpressionAttributeValues: { ':hours': noted.again } }
  }
  if ('summedThrough' in noted) {
    return {
      ConditionExpression: 'attribute_not_exists(summedThrough) OR summedThrough < :hour',
      UpdateExpression: 'SET summedThrough = :hour',
      ExpressionAttributeValues: { ':hour': noted.summedThrough },
    }
  }
  if ('exportedThrough' in noted) {
    return {
      ConditionExpression: 'attribute_not_exists(exportedThrough) OR exportedThrough < :day',
      UpdateExpression: 'SET exportedThrough = :day REMOVE exporting',
      ExpressionAttributeValues: { ':day': noted.exportedThrough },
    }
  }
  return {
    ConditionExpression: 'attribute_not_exists(closedThrough) OR closedThrough < :day',
    UpdateExpression: 'SET closedThrough = :day',
    ExpressionAttributeValues: { ':day': noted.closedThrough },
  }
}
