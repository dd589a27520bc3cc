import type { ChatRequest, HostedTool } from '../chat/chat.ts'
import { type Catalog, formatOf, type PricedModel } from '../routing/catalog.ts'
import { CALLS, type CallQuantity, type PriceRow } from './price-kinds.ts'

/** A number of pieces, each of which may be any of these kinds. */
export type Pieces = { readonly count: number; readonly of: readonly PriceRow['pico'][] }

/** The bound of calls where a price stands and the catalog names no bound. */
const MAX_TOOL_CALLS = 10

/** True if the price covers its calls, and all that it names at the provider is for every caller. */
export function isPriced({ kind, stores = [] }: HostedTool, { price, vectorStores = [] }: PricedModel): boolean {
  return price[kind] !== undefined && stores.every((store) => vectorStores.includes(store))
}

/** The most calls of a tool: the caller's bound, or the lower one of the catalog. */
export function mostCalls({ most }: HostedTool, { maxToolCalls = MAX_TOOL_CALLS }: PricedModel): number {
  return Math.min(most ?? maxToolCalls, maxToolCalls)
}

/** The priced tools that at least one route, or one of a fallback, can carry. */
export function offeredTools({ hosted }: ChatRequest, model: PricedModel, catalog: Catalog): readonly HostedTool[] {
  if (hosted.length === 0) return hosted
  const others = model.fallback?.flatMap((id) => catalog.models.get(id) ?? []) ?? []
  const routes = [model, ...others].flatMap((one) => one.routes)
  const formats = new Set(routes.map(({ provider }) => formatOf(catalog.providers.get(provider))))
  return hosted.filter((tool) => formats.has(tool.format) && isPriced(tool, model))
}

/** The most that these tools may be called. Anthropic bounds each tool, the other formats all calls together. */
export function piecesOf(tools: readonly HostedTool[], model: PricedModel): readonly Pieces[] {
  const each = tools.filter(({ format }) => format === 'messages')
  const [first, ...more] = tools.filter(({ format }) => format !== 'messages')
  const shared = first && { count: mostCalls(first, model), of: [first, ...more].map(picoOf) }
  return [...each.map((tool) => ({ count: mostCalls(tool, model), of: [picoOf(tool)] })), ...(shared ? [shared] : [])]
}

const picoOf = ({ kind }: HostedTool) => `${kind}Pico` as const

type CallCounts = { readonly [Name in CallQuantity]?: number }

/** The calls and their kinds by which these tools cost the most, and no fewer than were counted. */
export function dearestCalls(tools: readonly HostedTool[], model: PricedModel, counted: CallCounts = {}): CallCounts {
  const most: { [Name in CallQuantity]?: number } = {}
  for (const { count, of } of piecesOf(tools, model)) {
    const rows = CALLS.filter(({ pico }) => of.includes(pico))
    const [dearest] = rows.sort((a, b) => Number(model.tokenPrice[b.pico] - model.tokenPrice[a.pico]))
    if (dearest) most[dearest.quantity] = (most[dearest.quantity] ?? 0) + count
  }
  for (const { quantity } of CALLS) most[quantity] = Math.max(most[quantity] ?? 0, counted[quantity] ?? 0)
  return most
}
