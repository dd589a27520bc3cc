import { USAGE_ITEMS } from '../../contract.ts'
import type { Tables } from '../tables.ts'

export type Closing = {
  /** Up to and including this day, every key with rows has its total. */
  readonly closedThrough?: string
  /** The time of that note. */
  readonly closedAtMs?: number
  readonly exportedThrough?: string
  /** The day that is being exported, and the key after which the next part begins. */
  readonly exporting?: ExportCursor
  /** A restore is running: rows are missing. */
  readonly isHalted: boolean
}

export type ExportCursor = { readonly day: string; readonly part: number; readonly afterKeyId: string }

export const CLOSING_ITEM = { requestId: `${USAGE_ITEMS.day}CLOSING` }
/** Exists during a restore. */
export const HALT_ITEM = { requestId: `${USAGE_ITEMS.day}HALT` }

type ReadClosing = () => Promise<Closing>

export function readClosing({ database, usage }: Tables): ReadClosing {
  const read = (Key: { requestId: string }) => database.get({ TableName: usage, Key, ConsistentRead: true })
  return async () => {
    const [{ Item = {} }, halt] = await Promise.all([read(CLOSING_ITEM), read(HALT_ITEM)])
    const { requestId: _, ...closing } = Item
    return { ...(closing as Omit<Closing, 'isHalted'>), isHalted: halt.Item !== undefined }
  }
}

/** The index may lag behind the table by a moment: totals younger than this may be missing from it. */
export const INDEX_LAG_MS = 60_000

/** The last day of which the index has all totals; undefined if there is none. */
export function totalsThrough({ closedThrough, closedAtMs = 0 }: Closing, nowMs: number): string | undefined {
  return closedAtMs + INDEX_LAG_MS <= nowMs ? closedThrough : undefined
}
