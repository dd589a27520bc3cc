import { ITEMS, USAGE_ITEMS } from '../../layers/gateway/contract.ts'
import type { Send, Variant } from './variants.ts'

type Stored = Readonly<Record<string, unknown>>
type Input = {
  readonly Key?: { readonly pk?: string }
  readonly Item?: { readonly requestId?: string }
  readonly KeyConditionExpression?: string
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>
}

/** Gateways that close days, export them or take a catalog otherwise than they should. */
export const CLOSING_VARIANTS: readonly Variant[] = [
  { name: 'a day is closed while a request of it is open', wrap: seeNoHolds },
  { name: 'a day is noted as closed without its totals', wrap: putNoTotals },
  { name: 'the export leaves a key out', wrap: leaveLastTotalOut },
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
    return Item?.requestId?.startsWith(USAGE_ITEMS.day) ? {} : send(command)
  }
}

function leaveLastTotalOut(send: Send): Send {
  return async (command) => {
    const answer = await send(command)
    const { ExpressionAttributeValues: values } = command.input as Input
    if (!String(values?.[':day']).startsWith(USAGE_ITEMS.day)) return answer
    return { ...answer, Items: (answer.Items as Stored[]).slice(0, -1) }
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
