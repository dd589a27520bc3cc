import { TABLES, USAGE_ITEMS } from '../../names.ts'
import { ifConditionHolds } from '../dynamodb/conditional-writes.ts'
import type { Tables } from '../dynamodb/database.ts'

export type Closing = {
  /** Up to and including this day, every key with rows has its total. */
  readonly closedThrough?: string
  readonly exportedThrough?: string
  /** Up to and including this hour, the requests of all keys are added up. */
  readonly summedThrough?: string
  /** All requests before this moment that asked for a model have left as spans. */
  readonly spannedThrough?: string
  /** Statements of accounts are published for all months that ended before the day after this one. */
  readonly statedThrough?: string
  /** Hours that are added up again, both included, because a row came late. */
  readonly again?: { readonly from: string; readonly to: string }
  /** The day that is being exported, and the row with which the next part begins. */
  readonly exporting?: ExportCursor
  /** Rows do not expire, because a day is not exported for long. */
  readonly isExpiryOff?: boolean
}

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

/** One fact; `again` is undefined once those hours are added up. */
type Noted = {
  [Name in keyof Closing]-?: {
    readonly [Noted in Name]: Name extends 'again' ? Closing[Name] | undefined : Closing[Name]
  }
}[keyof Closing]

/** Notes the progress of a run. Of two concurrent runs, the slower one takes nothing back. */
export function noteClosing({ database, usage }: Tables) {
  return async (noted: Noted): Promise<void> => {
    await ifConditionHolds(database.update({ TableName: usage, Key: CLOSING_ITEM, ...writeOf(noted) }))
  }
}

function writeOf(noted: Noted) {
  const [name, value] = Object.entries(noted)[0] as [keyof Closing, unknown]
  if (value === undefined) return { UpdateExpression: `REMOVE ${name}` }
  return {
    ...(name.endsWith('Through') && { ConditionExpression: `attribute_not_exists(${name}) OR ${name} < :${name}` }),
    UpdateExpression: `SET ${name} = :${name}${name === 'exportedThrough' ? ' REMOVE exporting' : ''}`,
    ExpressionAttributeValues: { [`:${name}`]: value },
  }
}

/** Lets rows expire at their times, or keeps all of them. DynamoDB can switch it for a table, not for a day. */
export type SetRowExpiry = (isOn: boolean) => Promise<void>

export function setRowExpiry({ database, usage: TableName }: Tables): SetRowExpiry {
  return async (isOn) => {
    const TimeToLiveSpecification = { AttributeName: TABLES.usage.timeToLive, Enabled: isOn }
    await database.control('UpdateTimeToLive', { TableName, TimeToLiveSpecification }).catch((error: Error) => {
      // DynamoDB refuses to switch to what is set.
      if (!/already (en|dis)abled/.test(error.message)) throw error
    })
  }
}
