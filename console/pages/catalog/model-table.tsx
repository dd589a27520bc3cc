import { Table } from '../../parts/table.tsx'

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

export function ModelTable({ of: catalog }: { readonly of: Readonly<Record<string, unknown>> }) {
  const models = (Array.isArray(catalog.models) ? catalog.models : []) as readonly Model[]
  return (
    <Table
      caption="Models, with credits per million tokens"
      head={
        <>
          <th scope="col">Model</th>
          {PRICES.map(([name, label]) => (
            <th key={name} scope="col" class="number">
              {label}
            </th>
          ))}
          <th scope="col">Other prices</th>
          <th scope="col" class="number">
            Context
          </th>
          <th scope="col">Routes</th>
        </>
      }
    >
      {models.map((model) => (
        <tr key={model.id}>
          <th scope="row">
            {model.id}
            {model.active === false && <span class="quiet"> (not active)</span>}
          </th>
          {PRICES.map(([name]) => (
            <td key={name} class="number">
              {String(model.price?.[name] ?? '–')}
            </td>
          ))}
          <td>{otherPrices(model)}</td>
          <td class="number">{model.contextLength?.toLocaleString('en-US')}</td>
          <td>{model.routes?.map(({ provider, model: its }) => `${provider}/${its}`).join(', ')}</td>
        </tr>
      ))}
    </Table>
  )
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
