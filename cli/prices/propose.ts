import { type PriceStrings, parsePrice } from '../../layers/gateway/domain/money/price.ts'
import {
  type CatalogData,
  type CatalogModel,
  kindOf,
  type UpstreamRoute,
} from '../../layers/gateway/domain/routing/catalog.ts'
import { dearestOf, listedCost, markedUp } from './dearest.ts'
import { type Difference, priceDifferences, tokenDifference } from './differences.ts'
import type { Edit } from './edit-json.ts'
import { listNamesOf } from './list-names.ts'
import { type Limit, type Listed, limitOf } from './listed.ts'
import type { PriceList } from './price-list.ts'

export type Proposal = {
  readonly differences: readonly Difference[]
  readonly edits: readonly Edit[]
  /** Routes that no list has. */
  readonly missing: readonly string[]
  /** Entries of lists that are not believed, and why. */
  readonly doubts: readonly string[]
}

/** By the label of the list. */
type Found = ReadonlyMap<string, Listed>

/** `markup` in hundredths of a percent; without it prices stay. */
export function propose(catalog: CatalogData, lists: readonly PriceList[], markup: bigint | undefined): Proposal {
  const parts = catalog.models.map((model, i) => {
    const looked = model.routes.map((route) => look(catalog, model, route, lists))
    const found = looked.map((one) => one.found)
    const costs = found.map((one, j) => proposedCost(model, model.routes[j]?.cost, one))
    return [
      ...looked,
      ...costs.map((cost, j) => costPart(model, i, j, cost, found[j] ?? new Map())),
      pricePart(model, i, costs, found, markup),
      limitPart(model, i, 'contextLength', found),
      limitPart(model, i, 'maxOutputTokens', found),
    ]
  })
  const all: readonly Part[] = parts.flat()
  return {
    differences: all.flatMap(({ differences = [] }) => differences),
    edits: all.flatMap(({ edits = [] }) => edits),
    missing: all.flatMap(({ missing = [] }) => missing),
    doubts: all.flatMap(({ doubts = [] }) => doubts),
  }
}

type Part = Partial<Proposal>

function look(
  { providers }: CatalogData,
  model: CatalogModel,
  route: UpstreamRoute,
  lists: readonly PriceList[],
): Part & { found: Found } {
  const entry = providers[route.provider]
  const names = entry && listNamesOf(route.provider, entry)
  const answers = lists.map(({ label, look: lookIn }) => {
    const all = names ? lookIn({ names, model: route.model }) : []
    return { label, said: all.map((one) => (typeof one === 'string' ? one : (doubtOf(one, model, route) ?? one))) }
  })
  const listed = answers.map(({ label, said }) => [label, said.filter((one) => typeof one !== 'string')] as const)
  const found = listed.filter(([, all]) => all.length > 0).map(([label, all]) => [label, dearestOf(all)] as const)
  const doubts = answers.flatMap(({ label, said }) =>
    said.filter((one) => typeof one === 'string').map((why) => `${label} on ${placeOf(model, route)}: ${why}`),
  )
  const isMissing = answers.every(({ said }) => said.length === 0)
  return { found: new Map(found), doubts, missing: isMissing ? [placeOf(model, route)] : [] }
}

function placeOf({ id }: CatalogModel, { provider, model }: UpstreamRoute): string {
  return `${id} (${provider}/${model})`
}

function doubtOf({ base }: Listed, model: CatalogModel, { cost }: UpstreamRoute): string | undefined {
  const ours = parsePrice(cost ?? model.price)
  for (const part of kindOf(model) === 'chat' ? (['input', 'output'] as const) : (['input'] as const)) {
    if (base[part] === undefined) return `it has no price of ${part}`
    if (base[part] === 0n && ours[`${part}Pico`] > 0n) return `its ${part} is 0, and ours is not`
  }
  return undefined
}

function proposedCost(model: CatalogModel, ours: PriceStrings | undefined, found: Found): PriceStrings | undefined {
  if (found.size === 0) return ours
  return listedCost(dearestOf([...found.values()]), ours, kindOf(model) === 'embedding')
}

function costPart(model: CatalogModel, i: number, j: number, cost: PriceStrings | undefined, found: Found): Part {
  const route = model.routes[j]
  if (!route || !cost || found.size === 0) return {}
  const isEmbedding = kindOf(model) === 'embedding'
  return priceDifferences({
    model: model.id,
    route: `${route.provider}/${route.model}`,
    field: 'cost',
    path: ['models', i, 'routes', j, 'cost'],
    ours: route.cost,
    proposed: cost,
    lists: new Map([...found].map(([label, listed]) => [label, listedCost(listed, undefined, isEmbedding)])),
  })
}

function pricePart(
  model: CatalogModel,
  i: number,
  costs: readonly (PriceStrings | undefined)[],
  found: readonly Found[],
  markup: bigint | undefined,
): Part {
  const known = costs.filter((cost) => cost !== undefined)
  if (markup === undefined || known.length === 0 || found.every(({ size }) => size === 0)) return {}
  return priceDifferences({
    model: model.id,
    route: null,
    field: 'price',
    path: ['models', i, 'price'],
    ours: model.price,
    proposed: markedUp(known, model.price, markup),
    lists: new Map(),
  })
}

/** A route that no list has may need what we have. */
function limitPart(model: CatalogModel, i: number, field: Limit, found: readonly Found[]): Part {
  const byRoute = found.map((one) => limitOf(field, [...one.values()]))
  if (byRoute.every((limit) => limit === undefined)) return {}
  if (field === 'maxOutputTokens' && kindOf(model) === 'embedding') return {}
  const ours = model[field]
  const needed = byRoute.map((limit) => ({ [field]: limit ?? ours }))
  const labels = new Set(found.flatMap((one) => [...one.keys()]))
  const saidBy = (label: string) => found.flatMap((one) => one.get(label) ?? [])
  return tokenDifference({
    model: model.id,
    route: null,
    field,
    path: ['models', i, field],
    ours,
    proposed: limitOf(field, needed) ?? ours,
    lists: new Map([...labels].map((label) => [label, limitOf(field, saidBy(label))])),
  })
}
