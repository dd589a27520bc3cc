import { byMoment } from '../../domain/rows/export-line.ts'
import type { UsageRow } from '../../domain/rows/usage-row.ts'

export type RowOrder = 'newest first' | 'oldest first'

const LEAST_PAGE = 8

/** A page of merged lists needs a part of each, and more of one only by chance. */
export function partOfPage(rows: number, lists: number): number {
  return Math.max(LEAST_PAGE, Math.ceil(rows / Math.max(1, lists / 2)))
}

/** Lists of rows that are each in the order of time as one list in the order of ids, which is that of time, too. */
export async function* mergeRows(
  lists: readonly AsyncGenerator<UsageRow>[],
  order: RowOrder,
): AsyncGenerator<UsageRow, void, undefined> {
  const isBefore = (a: string, b: string) => (order === 'oldest first' ? a < b : a > b)
  const heads = await Promise.all(lists.map((list) => headOf(inOrder(list, order))))
  for (;;) {
    const first = heads.reduce<Head | undefined>((least, head) => {
      if (!head.row) return least
      return least?.row && isBefore(least.row.requestId, head.row.requestId) ? least : head
    }, undefined)
    if (!first?.row) return
    yield first.row
    first.row = (await first.rest.next()).value ?? undefined
  }
}

type Head = { row: UsageRow | undefined; readonly rest: AsyncGenerator<UsageRow, void, undefined> }

async function headOf(rest: AsyncGenerator<UsageRow, void, undefined>): Promise<Head> {
  return { row: (await rest.next()).value ?? undefined, rest }
}

/** An index sorts rows of the same millisecond in no order. */
async function* inOrder(list: AsyncIterable<UsageRow>, order: RowOrder): AsyncGenerator<UsageRow, void, undefined> {
  for await (const { rows } of byMoment(list)) yield* order === 'oldest first' ? rows : rows.toReversed()
}
