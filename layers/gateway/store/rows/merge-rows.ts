import { byMoment } from '../../domain/rows/export-line.ts'
import type { UsageRow } from '../../domain/rows/usage-row.ts'
import type { RowOrder } from './usage-rows.ts'

/** Lists of rows that are each in the order of time as one list in the order of ids, which is that of time, too. */
export async function* mergeRows(
  lists: readonly AsyncGenerator<UsageRow>[],
  order: RowOrder,
): AsyncGenerator<UsageRow, void, undefined> {
  const isBefore = (a: string, b: string) => (order === 'oldest first' ? a < b : a > b)
  const heads = await Promise.all(lists.map((list) => headOf(inOrder(list, isBefore))))
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
type IsBefore = (a: string, b: string) => boolean

async function headOf(rest: AsyncGenerator<UsageRow, void, undefined>): Promise<Head> {
  return { row: (await rest.next()).value ?? undefined, rest }
}

/** An index sorts rows of the same millisecond in no order. */
async function* inOrder(list: AsyncIterable<UsageRow>, isBefore: IsBefore): AsyncGenerator<UsageRow, void, undefined> {
  for await (const { rows } of byMoment(list)) {
    yield* rows.toSorted((a, b) => (isBefore(a.requestId, b.requestId) ? -1 : 1))
  }
}
