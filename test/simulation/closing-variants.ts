import { ITEMS, USAGE_ITEMS } from '../../layers/gateway/names.ts'
import { CLOSING_ITEM } from '../../layers/gateway/store/rows/closing.ts'
import { DAY_SUMS } from '../../layers/gateway/store/rows/day-totals.ts'
import { type Input, reading, type Send, type Stored, unsent, type Variant } from './commands.ts'

const isOfDay = ({ ExpressionAttributeValues: values }: Input, kind: string) =>
  String(values?.[':day']).startsWith(kind)
const isOfSums = (input: Input) => isOfDay(input, DAY_SUMS)
const isOfProgress = ({ Key }: Input) => Key?.part === CLOSING_ITEM.part

/** Gateways that close days, export them or take a catalog otherwise than they should. */
export const CLOSING_VARIANTS: readonly Variant[] = [
  reading(
    'a day is closed while a request of it is open',
    (_, command) => command === 'ScanCommand',
    ({ openHolds: _, ...item }) => item,
  ),
  unsent('a day is noted as closed without its totals', ({ Item }) => Item?.part?.startsWith(USAGE_ITEMS.day) === true),
  { name: 'the export leaves a key out', wrap: leaveLastTotalOut },
  reading('a total goes on without the sum that was kept', isOfSums, (sum) => ({ ...sum, parts: [] })),
  reading('a total goes on from the first row with the sum that was kept', isOfSums, (sum) => ({
    ...sum,
    before: `${sum.day}T00:00:00.000Z`,
  })),
  reading('the export goes on behind its cursor', isOfProgress, skipMoment),
  unsent(
    'hours are not added up again when a row came late',
    (input) => isOfProgress(input) && Boolean(input.ExpressionAttributeValues?.[':again']),
  ),
  reading(
    'a charge names another catalog than that of its prices',
    ({ Key }) => Key?.pk === ITEMS.catalog,
    (item) => ({ ...item, version: Math.max(1, Number(item.version) - 1) }),
  ),
]

function leaveLastTotalOut(send: Send): Send {
  return async (command) => {
    const answer = await send(command)
    if (!isOfDay(command.input, USAGE_ITEMS.day) || isOfSums(command.input)) return answer
    return { ...answer, Items: (answer.Items as Stored[]).slice(0, -1) }
  }
}

/** Its rows are those that it has counted, and one millisecond of them is in no file. */
function skipMoment(item: Stored): Stored {
  const cursor = item.exporting as Stored | undefined
  return cursor ? { ...item, exporting: { ...cursor, beforeMs: Number(cursor.beforeMs) + 1 } } : item
}
