import { ITEMS, USAGE_ITEMS } from '../../layers/gateway/names.ts'
import { CLOSING_ITEM } from '../../layers/gateway/store/rows/closing.ts'
import { DAY_SUMS } from '../../layers/gateway/store/rows/day-totals.ts'
import type { Command, Send, Variant } from './variants.ts'

type Stored = Readonly<Record<string, unknown>>
type Input = {
  readonly Key?: { readonly pk?: string; readonly part?: string }
  readonly Item?: Stored & { readonly part?: string }
  readonly KeyConditionExpression?: string
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>
}

/** Gateways that close days, export them or take a catalog otherwise than they should. */
export const CLOSING_VARIANTS: readonly Variant[] = [
  { name: 'a day is closed while a request of it is open', wrap: seeNoHolds },
  { name: 'a day is noted as closed without its totals', wrap: putNoTotals },
  { name: 'the export leaves a key out', wrap: leaveLastTotalOut },
  { name: 'a total goes on without the sum that was kept', wrap: forgetSums },
  { name: 'a total goes on from the first row with the sum that was kept', wrap: beginAgain },
  { name: 'the export goes on behind its cursor', wrap: skipMoment },
  { name: 'hours are not added up again when a row came late', wrap: forgetLateRows },
  { name: 'a charge names another catalog than that of its prices', wrap: nameVersionBefore },
]

function seeNoHolds(send: Send): Send {
  return async (command) => {
    const answer = await send(command)
    if (command.constructor.name !== 'ScanCommand') return answer
    return { ...answer, Items: (answer.Items as Stored[]).map(({ openHolds: _, ...item }) => item) }
  }
}

function putNoTotals(send: Send): Send {
  return async (command) => {
    const { Item } = command.input as Input
    return Item?.part?.startsWith(USAGE_ITEMS.day) ? {} : send(command)
  }
}

function leaveLastTotalOut(send: Send): Send {
  return async (command) => {
    const answer = await send(command)
    const { ExpressionAttributeValues: values } = command.input as Input
    if (!String(values?.[':day']).startsWith(USAGE_ITEMS.day) || isOfSums(command)) return answer
    return { ...answer, Items: (answer.Items as Stored[]).slice(0, -1) }
  }
}

function isOfSums(command: Command): boolean {
  return String((command.input as Input).ExpressionAttributeValues?.[':day']).startsWith(DAY_SUMS)
}

function forgetSums(send: Send): Send {
  return changeSums(send, (sum) => ({ ...sum, parts: [] }))
}

function beginAgain(send: Send): Send {
  return changeSums(send, (sum) => ({ ...sum, before: `${sum.day}T00:00:00.000Z` }))
}

function changeSums(send: Send, change: (sum: Stored) => Stored): Send {
  return async (command) => {
    const answer = await send(command)
    return isOfSums(command) ? { ...answer, Items: (answer.Items as Stored[]).map(change) } : answer
  }
}

/** Its rows are those that it has counted, and one millisecond of them is in no file. */
function skipMoment(send: Send): Send {
  return async (command) => {
    const answer = await send(command)
    const item = answer.Item as Stored | undefined
    const cursor = item?.exporting as Stored | undefined
    if ((command.input as Input).Key?.part !== CLOSING_ITEM.part || !cursor) return answer
    return { ...answer, Item: { ...item, exporting: { ...cursor, beforeMs: Number(cursor.beforeMs) + 1 } } }
  }
}

function forgetLateRows(send: Send): Send {
  return async (command) => {
    const { Key, ExpressionAttributeValues: values } = command.input as Input
    return Key?.part === CLOSING_ITEM.part && values?.[':again'] ? {} : send(command)
  }
}

function nameVersionBefore(send: Send): Send {
  return async (command) => {
    const answer = await send(command)
    const item = answer.Item as Stored | undefined
    if ((command.input as Input).Key?.pk !== ITEMS.catalog || !item) return answer
    return { ...answer, Item: { ...item, version: Math.max(1, Number(item.version) - 1) } }
  }
}
