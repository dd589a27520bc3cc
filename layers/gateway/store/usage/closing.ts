import { USAGE_ITEMS } from '../../contract.ts'
import { ifConditionHolds } from '../failures.ts'
import type { Tables } from '../tables.ts'

/** How far days are closed and exported. */
export type Closing = {
  /** Up to this day, and with it, every key that has rows has its total. */
  readonly closedThrough?: string
  /** When that was noted. */
  readonly closedAtMs?: number
  readonly exportedThrough?: string
  /** The day that is being exported: the next part begins after this key. */
  readonly exporting?: ExportPlace
  /** A restore is under way: the rows are not all there. */
  readonly isHalted: boolean
}

export type ExportPlace = { readonly day: string; readonly part: number; readonly afterKeyId: string }

export const CLOSING_ITEM = { requestId: `${USAGE_ITEMS.day}CLOSING` }
/** There while a restore is. */
export const HALT_ITEM = { requestId: `${USAGE_ITEMS.day}HALT` }

export function readClosing({ database, usage }: Tables) {
  const read = (Key: { requestId: string }) => database.get({ TableName: usage, Key, ConsistentRead: true })
  return async (): Promise<Closing> => {
    const [{ Item = {} }, halt] = await Promise.all([read(CLOSING_ITEM), read(HALT_ITEM)])
    const { requestId: _, ...closing } = Item
    return { ...(closing as Omit<Closing, 'isHalted'>), isHalted: halt.Item !== undefined }
  }
}

/** The index may be behind the table by a moment: totals younger than this may be missing from it. */
export const INDEX_LAG_MS = 60_000

/** Up to which day the totals in the index are all there; undefined if of no day. */
export function totalsThrough({ closedThrough, closedAtMs = 0 }: Closing, nowMs: number): string | undefined {
  return closedAtMs + INDEX_LAG_MS <= nowMs ? closedThrough : undefined
}

type Noted =
  | { readonly closedThrough: string; readonly closedAtMs: number }
  | { readonly exportedThrough: string }
  | { readonly exporting: ExportPlace }

/** Notes how far a run has come. Of two runs at once, the one that is behind takes nothing back. */
export function noteClosing({ database, usage }: Tables) {
  return async (noted: Noted): Promise<void> => {
    await ifConditionHolds(database.update({ TableName: usage, Key: CLOSING_ITEM, ...writeOf(noted) }))
  }
}

function writeOf(noted: Noted) {
  if ('exporting' in noted) {
    return {
      UpdateExpression: 'SET exporting = :place',
      ExpressionAttributeValues: { ':place': noted.exporting },
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
    UpdateExpression: 'SET closedThrough = :day, closedAtMs = :nowMs',
    ExpressionAttributeValues: { ':day': noted.closedThrough, ':nowMs': noted.closedAtMs },
  }
}
