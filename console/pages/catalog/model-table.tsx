import { type Column, cell, count, name, number, Table } from '../../parts/table.tsx'

type Prices = { readonly [name: string]: unknown }

type Model = {
  readonly id: string
  readonly active?: boolean
  readonly price?: Prices & { readonly tiers?: readonly (Prices & { readonly above: number })[] }
  readonly routes?: readonly { readonly provider: string; readonly model: string }[]
  readonly contextLength?: number
}

const PRICES = [
  ['input', 'Input'],
  ['cachedInput', 'Cached'],
  ['output', 'Output'],
] as const

const COLUMNS: readonly Column<Model>[] = [
  name('Model', (model) => (
    <>
      {model.id}
      {model.active === false && <span class="quiet"> (not active)</span>}
    </>
  )),
  ...PRICES.map(([price, label]) => number<Model>(label, (model) => String(model.price?.[price] ?? '–'))),
  cell('Other prices', otherPrices),
  count('Context', (model) => model.contextLength),
  cell('Routes', (model) => model.routes?.map(({ provider, model: its }) => `${provider}/${its}`).join(', ')),
]

export function ModelTable({ of: catalog }: { readonly of: Readonly<Record<string, unknown>> }) {
  const models = (Array.isArray(catalog.models) ? catalog.models : []) as readonly Model[]
  const caption = 'Models, with credits per million tokens'
  return <Table caption={caption} columns={COLUMNS} rows={models} keyOf={(model) => model.id} />
}

function otherPrices({ price = {} }: Model): string {
  const { tiers = [], ...base } = price
  const shown: readonly string[] = PRICES.map(([name]) => name)
  const others = Object.entries(base).filter(([name]) => !shown.includes(name))
  const inTiers = tiers.map(({ above, ...tier }) => {
    return `above ${above.toLocaleString('en-US')} prompt tokens: ${inWords(Object.entries(tier))}`
  })
  return [...(others.length > 0 ? [inWords(others)] : []), ...inTiers].join('; ')
}

function inWords(prices: readonly (readonly [string, unknown])[]): string {
  return prices.map(([name, amount]) => `${name} ${amount}`).join(', ')
}
