import { Button } from '../../parts/controls.tsx'
import { costOf, type Model, marginText, modelsIn, type Prices } from '../../parts/models.ts'
import { counted } from '../../parts/numbers.ts'
import { Command } from '../../parts/page.tsx'
import { type Column, cell, count, extra, name, number, Table } from '../../parts/table.tsx'

const PUBLIC_LISTS = <Command>catalog prices --from https://models.dev/api.json</Command>
const PRICES = { input: 'Input', cachedInput: 'Cached', output: 'Output' }

type Props = {
  readonly of: unknown
  /** Whence its costs are, if `waybill catalog prices` proposed it. */
  readonly comment: unknown
  readonly onEdit: (id: string) => void
}

export function ModelTable({ of: catalog, comment, onEdit }: Props) {
  const columns: readonly Column<Model>[] = [
    name('Model', ({ id, active }) => [
      <Button class="as-link" aria-label={`Edit ${id}`} onClick={() => onEdit(id)}>
        {id}
      </Button>,
      active === false && <span class="quiet"> (not active)</span>,
    ]),
    ...Object.entries(PRICES).map(([price, label]) =>
      number<Model>(label, (model) => <Price of={model} name={price} />),
    ),
    extra(cell('Other prices', otherPrices, 'wide')),
    count('Context', (model) => model.contextLength),
    cell('Routes', routesText, 'short'),
  ]
  return [
    <p class="quiet">
      Credits per million tokens; below each the provider cost of the dearest route, and the margin.{' '}
      {typeof comment === 'string' ? comment : ['Costs of public lists: ', PUBLIC_LISTS]}
    </p>,
    <Table caption="Models" columns={columns} rows={modelsIn(catalog)} by="id" />,
  ]
}

function Price({ of: model, name: price }: { readonly of: Model; readonly name: string }) {
  const amount = model.price?.[price]
  return [String(amount ?? '–'), amount !== undefined && <CostNote of={model} price={price} />]
}

/** The provider cost and the margin. */
export function CostNote({ of: model, price }: { readonly of: Model; readonly price: string }) {
  const cost = costOf(model, price)
  const margin = marginText(model.price?.[price], cost)
  if (cost === undefined) return null
  return (
    <small class="note">
      {cost} <span class={margin?.startsWith('−') ? 'bad-text' : 'good-text'}>{margin}</span>
    </small>
  )
}

function routesText({ routes = [] }: Model) {
  const whole = routes.map(({ provider, model }) => `${provider}/${model}`).join(', ')
  return <span title={whole}>{routes.map(({ provider }) => provider).join(', ')}</span>
}

type Tiered = Prices & {
  readonly tiers?: readonly (Prices & { readonly above: number })[]
  readonly serviceTiers?: Readonly<Record<string, Prices>>
}

function otherPrices({ price = {} }: Model): string {
  const { tiers = [], serviceTiers = {}, ...base } = price as Tiered
  const others = Object.entries(base).filter(([name]) => !Object.hasOwn(PRICES, name))
  const inTiers = tiers.map(({ above, ...tier }) => `above ${counted(above)} prompt tokens: ${inWords(tier)}`)
  const inServices = Object.entries(serviceTiers).map(([name, tier]) => `tier ${name}: ${inWords(tier)}`)
  return [inWords(Object.fromEntries(others)), ...inTiers, ...inServices].filter(Boolean).join('; ')
}

function inWords(prices: Prices): string {
  return Object.entries(prices)
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ')
}
