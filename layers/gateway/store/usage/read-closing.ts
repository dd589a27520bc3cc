import { USAGE_ITEMS } from '../../contract.ts'
import type { Tables } from '../tables.ts'

/** How far days are closed and exported. */
export type Closing = {
  /** Up to this day, and with it, every key that has rows has its total. */
  readonly closedThrough?: string
  /** When that was noted. */
  readonly closedAtMs?: number
  readonly exportedThrough?: string
  /** The day that is being exported: the next part begins after this key. */
  readonly exporting?: ExportCursor
  /** A restore is under way: the rows are not all there. */
  readonly isHalted: boolean
}

export type ExportCursor = { readonly day: string; readonly part: number; readonly afterKeyId: string }

export const CLOSING_ITEM = { requestId: `${USAGE_ITEMS.day}CLOSING` }
/** There while a restore is. */
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

/** The index may be behind the table by a moment: totals younger than this may be missing from it. */
export const INDEX_LAG_MS = 60_000

/** Up to which day the totals in the index are all there; undefined if of no day. */
export function totalsThrough({ closedThrough, closedAtMs = 0 }: Closing, nowMs: number): string | undefined {
  return closedAtMs + INDEX_LAG_MS <= nowMs ? closedThrough : undefined
}
