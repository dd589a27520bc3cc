import { type PriceStrings, type PriceTier, parsePrice, priceAt } from '../../layers/gateway/domain/money/price.ts'
import { type CatalogData, type CatalogModel, kindOf } from '../../layers/gateway/domain/routing/catalog.ts'
import { listNamesOf } from '../reading/known-providers.ts'
import { scaledNumber } from '../reading/numbers.ts'
import type { Edit } from './edit-json.ts'
import { dearestOf, type Limits, type Listed, limitsOf, listedCost, markedUp, TOKEN_KINDS } from './listed.ts'
import type { PriceList } from './price-list.ts'

/** The parts of a model that lists have: ours, proposed ones, or those of one list. */
type Figures = Limits & {
  readonly price?: PriceStrings
  readonly routes: readonly { readonly cost?: PriceStrings | undefined }[]
}

type Route = CatalogModel['routes'][number]

const PRICES = [...TOKEN_KINDS, 'tiers'] as const

export type Proposal = ReturnType<typeof propose>

/** `markup` is in hundredths of a percent; without it prices stay. `missing` are routes that no list has. */
export function propose(catalog: CatalogData, lists: readonly PriceList[], markup: bigint | undefined) {
  const differences: NonNullable<ReturnType<typeof differenceAt>>[] = []
  const edits: Edit[] = []
  const missing: string[] = []
  const doubts: string[] = []
  for (const [i, model] of catalog.models.entries()) {
    const found = model.routes.map((route) => look(model, route))
    if (found.every(({ size }) => size === 0)) continue
    const isEmbedding = kindOf(model) === 'embedding'
    const dearest = found.map((byLabel) => (byLabel.size > 0 ? dearestOf([...byLabel.values()]) : undefined))
    const { routes, ...limits } = figuresOf(dearest, isEmbedding, model)
    const costs = routes.flatMap(({ cost }) => cost ?? [])
    const price = markup === undefined ? model.price : markedUp(costs, model.price, markup)
    const labels = new Set(found.flatMap((byLabel) => [...byLabel.keys()]))
    const listed = [...labels].map((label) => {
      const ofLabel = found.map((byLabel) => byLabel.get(label))
      return [label, figuresOf(ofLabel, isEmbedding)] as const
    })
    compare(model, ['models', i], { routes, price, ...limits }, listed)
  }
  return { differences, edits, missing, doubts }

  /** The model at one route, by the labels of the lists that have it. */
  function look(model: CatalogModel, route: Route): ReadonlyMap<string, Listed> {
    const place = `${model.id} (${route.provider}/${route.model})`
    const entry = catalog.providers[route.provider]
    const names = entry && listNamesOf(route.provider, entry)
    const answers = lists.map(({ label, look: lookIn }) => {
      const all = names ? lookIn({ names, model: route.model }) : []
      return { label, all: all.map((one) => (typeof one === 'string' ? one : (doubtOf(one, model, route) ?? one))) }
    })
    if (answers.every(({ all }) => all.length === 0)) missing.push(place)
    const found = new Map<string, Listed>()
    for (const { label, all } of answers) {
      const believed = all.filter((one) => typeof one !== 'string')
      if (believed.length > 0) found.set(label, dearestOf(believed))
      doubts.push(...all.filter((one) => typeof one === 'string').map((why) => `${label} on ${place}: ${why}`))
    }
    return found
  }

  function compare(ours: CatalogModel, at: Path, proposed: Figures, listed: ListedFigures): void {
    for (const path of pathsIn(ours)) {
      const difference = differenceAt(path, ours, proposed, listed)
      if (!difference) continue
      differences.push(difference)
      if (difference.ours === difference.proposed) continue
      const parent = path.slice(0, -1)
      // A cost that is new stands in one piece, and has an input.
      if (valueAt(ours, parent) !== undefined) edits.push({ path: [...at, ...path], value: valueAt(proposed, path) })
      else if (path.at(-1) === 'input') edits.push({ path: [...at, ...parent], value: valueAt(proposed, parent) })
    }
  }
}

type ListedFigures = readonly (readonly [label: string, figures: Figures])[]

/** A value that differs from that of the lists, or on which they differ. The route is null for a field of the model. */
function differenceAt(path: Path, ours: CatalogModel, proposed: Figures, listed: ListedFigures) {
  const [was, is] = [textOf(valueAt(ours, path)), textOf(valueAt(proposed, path))]
  const texts = listed.flatMap(([label, figures]) => {
    const text = textOf(valueAt(figures, path))
    return text === undefined ? [] : [[label, text] as const]
  })
  const isDisputed = new Set(texts.map(([, text]) => text)).size > 1
  if (is === undefined || (was === is && !isDisputed)) return undefined
  const route = path[0] === 'routes' ? ours.routes[Number(path[1])] : undefined
  return {
    model: ours.id,
    route: route ? `${route.provider}/${route.model}` : null,
    field: path.slice(route ? 2 : 0).join('.'),
    ours: was ?? null,
    proposed: is,
    lists: Object.fromEntries(texts),
    falls: hasFallen(path, ours, proposed),
  }
}

/** The figures by one entry for each route. Those that no entry has are ours, if they are given. */
function figuresOf(listed: readonly (Listed | undefined)[], isEmbedding: boolean, ours?: CatalogModel): Figures {
  const limits = listed.map((one) => ({
    contextLength: one?.contextLength ?? ours?.contextLength,
    maxOutputTokens: one?.maxOutputTokens ?? ours?.maxOutputTokens,
  }))
  const routes = listed.map((one, j) => {
    const cost = ours?.routes[j]?.cost
    return { cost: one ? listedCost(one, cost, isEmbedding) : cost }
  })
  return { routes, ...limitsOf(limits) }
}

type Path = Edit['path']

function pathsIn(model: CatalogModel): Path[] {
  return [
    ...model.routes.flatMap((_, j) => PRICES.map((price) => ['routes', j, 'cost', price])),
    ...PRICES.map((price) => ['price', price]),
    ['contextLength'],
    ...(kindOf(model) === 'embedding' ? [] : [['maxOutputTokens']]),
  ]
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((found, name) => (found as Readonly<Record<string | number, unknown>> | undefined)?.[name], value)
}

/** One text of a value, however it was written, so that 2.50 stays as it is beside 2.5. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.includes('.') ? value.replace(/\.?0+$/, '') : value
  if (!Array.isArray(value)) return value?.toString()
  const tiers = value.map((tier: PriceTier) => {
    const prices = TOKEN_KINDS.flatMap((kind) => (tier[kind] === undefined ? [] : `${kind} ${textOf(tier[kind])}`))
    return `above ${tier.above}: ${prices.join(', ')}`
  })
  return tiers.join('; ') || undefined
}

function doubtOf({ ranges }: Listed, model: CatalogModel, { cost }: Route): string | undefined {
  const ours = parsePrice(cost ?? model.price)
  for (const kind of kindOf(model) === 'chat' ? (['input', 'output'] as const) : (['input'] as const)) {
    const pico = ranges[0]?.prices[kind]
    if (pico === undefined) return `it has no price of ${kind}`
    if (pico === 0n && ours[`${kind}Pico`] > 0n) return `its ${kind} is 0, and ours is not`
  }
  return undefined
}

/** True if a value is less than half of ours; of tiers, if the input or the output is, for prompts of any length. */
function hasFallen(path: Path, ours: CatalogModel, proposed: Figures): boolean {
  const isFall = (was = 0n, is = 0n) => is * 2n < was
  const [numberWas, numberIs] = [ours, proposed].map((side) => scaledNumber(textOf(valueAt(side, path)), 6))
  if (path.at(-1) !== 'tiers') return isFall(numberWas, numberIs)
  const prices = [ours, proposed].map((side) => valueAt(side, path.slice(0, -1)) as PriceStrings | undefined)
  const [was, is] = prices.map((price) => price && parsePrice(price))
  if (!was || !is) return false
  const lengths = [...was.tiers, ...is.tiers].map(({ above }) => above + 1)
  const pairs = lengths.map((tokens) => [priceAt(was, tokens), priceAt(is, tokens)] as const)
  return pairs.some(([old, now]) => isFall(old.inputPico, now.inputPico) || isFall(old.outputPico, now.outputPico))
}
