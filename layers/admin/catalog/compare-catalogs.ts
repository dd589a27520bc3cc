import { isDeepStrictEqual } from 'node:util'
import type { CatalogFault } from '../../catalog/parse-catalog.ts'
import type { PriceStrings } from '../../gateway/domain/money/price.ts'
import type { CatalogData, CatalogModel, Plan } from '../../gateway/domain/routing/catalog.ts'

export function compareCatalogs(inForce: CatalogData | undefined, after: CatalogData): string[] {
  const before: CatalogData = inForce ?? { providers: {}, models: [] }
  const models = compareNamed(byId(before), byId(after), 'model', changesOf)
  const providers = compareNamed(named(before.providers), named(after.providers), 'provider', differingFields)
  const plans = compareNamed(named(before.plans), named(after.plans), 'plan', planChanges)
  return [...models, ...providers, ...plans]
}

// Maps, because a model or provider may be called 'constructor'.

function byId({ models }: CatalogData): ReadonlyMap<string, CatalogModel> {
  return new Map(models.map((model) => [model.id, model]))
}

function named<T>(entries: Readonly<Record<string, T>> = {}): ReadonlyMap<string, T> {
  return new Map(Object.entries(entries))
}

function planChanges({ factor: was, ...before }: Plan, { factor: is, ...after }: Plan): string[] {
  return [...(was === is ? [] : [`factor ${was} → ${is}`]), ...differingFields(before, after)]
}

function compareNamed<T extends object>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  kind: string,
  compare: (before: T, after: T) => string[],
): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)]
    if (!was) return [`+ ${kind} ${name}`]
    if (!is) return [`- ${kind} ${name}`]
    const changes = compare(was, is)
    return changes.length > 0 ? [`~ ${kind} ${name}: ${changes.join(', ')}`] : []
  })
}

function changesOf({ price: oldPrice, ...before }: CatalogModel, { price, ...after }: CatalogModel): string[] {
  const parts = differingFields(oldPrice, price) as (keyof PriceStrings)[]
  const priceChanges = parts.map((part) => `${part} ${priceText(oldPrice[part])} → ${priceText(price[part])}`)
  return [...priceChanges, ...differingFields(before, after)]
}

function priceText(part: PriceStrings[keyof PriceStrings]): string {
  if (typeof part !== 'object') return part ?? '-'
  const tiers = Array.isArray(part)
    ? part.map(({ above, ...prices }) => [`above ${above}`, prices] as const)
    : Object.entries(part)
  return tiers.map(([name, prices]) => `${name}: ${pricesText(prices)}`).join('; ') || '-'
}

function pricesText(prices: object): string {
  const parts = Object.entries(prices).map(([name, price]) => `${name} ${price}`)
  return parts.sort().join(', ')
}

/** In the order of the file: a stored catalog has lost its own. */
function differingFields(before: object, after: object): string[] {
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const names = new Set([...is.keys(), ...was.keys()])
  return [...names].filter((name) => !isDeepStrictEqual(was.get(name), is.get(name)))
}

/** Every field counts, future ones too: each decides who gets the provider's key and the prompts, or what it may bill. */
export function changedProvider(before: CatalogData | undefined, after: CatalogData): CatalogFault | undefined {
  const known = named(before?.providers)
  for (const [id, entry] of named(after.providers)) {
    const was = known.get(id)
    const fields = differingFields(was ?? {}, entry)
    if (fields.length > 0) return { path: `providers.${id}.${fields[0]}`, message: refusalOf(id, fields, !was) }
  }
  return undefined
}

function refusalOf(id: string, fields: readonly string[], isNew: boolean): string {
  const names = new Intl.ListFormat('en-GB').format(fields)
  const what = isNew ? `add the provider '${id}' with its ${names}` : `change ${names} of the provider '${id}'`
  return `An admin key may change models and their prices, but may not ${what}. Push it with the rights of AWS: 'waybill catalog push'.`
}
