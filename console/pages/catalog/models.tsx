import type { ComponentChildren } from 'preact'
import { PRICE_ROWS, PRICE_WORDS } from '../../../layers/gateway/domain/money/price-kinds.ts'
import { Button, Field, Select, Tick } from '../../parts/controls.tsx'
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

function CostNote({ of: model, price }: { readonly of: Model; readonly price: string }) {
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

/** The labels of fields of the schema, by their path below the model, the tier or the route. */
type Shape = Readonly<Record<string, string>>

const MODEL: Shape = { id: 'Name for callers', contextLength: 'Context length', maxOutputTokens: 'Max output' }
const PRICE_FIELDS = PRICE_ROWS.map(({ kind }) => [`price.${kind}`, PRICE_WORDS[kind].label] as const)
const TIER: Shape = { above: 'Above tokens', input: 'Input', output: 'Output', cachedInput: 'Cached' }
const ROUTE: Shape = {
  provider: 'Provider',
  model: 'Its model',
  priority: 'Priority',
  weight: 'Weight',
  'cost.input': 'Input cost',
  'cost.output': 'Output cost',
  'cost.cachedInput': 'Cached cost',
}
const COUNTS = new Set(['contextLength', 'maxOutputTokens', 'above', 'priority', 'weight'])
const MOST_TIERS = 4

type Fields = Readonly<Record<string, unknown>>

type FormProps = {
  readonly of: unknown
  readonly id: string
  readonly onChoose: (id: string) => void
  readonly onChange: (catalog: object) => void
}

export function ModelForm({ of: catalog, id, onChoose, onChange }: FormProps) {
  const models = modelsIn(catalog)
  const at = models.findIndex((one) => one.id === id)
  const model = models[at]
  const write = (now: readonly Fields[], chosen: unknown) => {
    onChange({ ...(catalog as object), models: now })
    onChoose(String(chosen ?? ''))
  }
  const change = (now: Fields) => write((models as readonly Fields[]).with(at, now), now.id)
  const add = () => {
    const fresh = freshModel(models, Object.keys((catalog as { providers?: object }).providers ?? {})[0] ?? '')
    write([...models, fresh], fresh.id)
  }
  return (
    <section class="panel model-form" aria-label="One model">
      <div class="row wrap">
        <Select
          label="Model"
          value={model ? id : ''}
          onChange={onChoose}
          options={[['', 'Choose one to edit it here'], ...models.map((one) => [one.id, one.id] as const)]}
        />
        <Button onClick={add}>Add a model</Button>
      </div>
      {model && <Inputs of={model} onChange={change} />}
    </section>
  )
}

function freshModel(models: readonly Model[], provider: string) {
  let n = models.length + 1
  while (models.some(({ id }) => id === `new-model-${n}`)) n += 1
  return {
    id: `new-model-${n}`,
    contextLength: 128_000,
    maxOutputTokens: 16_384,
    price: { input: '1', output: '2' },
    routes: [{ provider, model: '', cost: { input: '0.8', output: '1.6' } }],
  }
}

function Inputs({ of: model, onChange }: { readonly of: Model; readonly onChange: (now: Fields) => void }) {
  const { price = {}, routes, kind, active } = model
  const tiers = listIn(price.tiers)
  const all = listIn(routes)
  const prices = Object.fromEntries(kind === 'embedding' ? PRICE_FIELDS.slice(0, 1) : PRICE_FIELDS)
  return [
    <div class="columns">{inputs(MODEL, model, onChange)}</div>,
    <Tick checked={active !== false} onChange={() => onChange({ ...model, active: active === false })}>
      Active
    </Tick>,
    <fieldset>
      <legend>Prices in credits per million tokens, with the provider cost and the margin</legend>
      <div class="columns">
        {inputs(prices, model, onChange, (path) => (
          <CostNote of={model} price={path.slice(6)} />
        ))}
      </div>
    </fieldset>,
    <Listed
      legend="Prices of long prompts"
      what="tier"
      of={tiers}
      shape={TIER}
      fresh={tiers.length < MOST_TIERS && { above: 200_000, input: price.input, output: price.output }}
      onChange={(now) => onChange(withValue(model, 'price.tiers', now.length > 0 ? now : ''))}
    />,
    <Listed
      legend="Routes, and their provider cost"
      what="route"
      of={all}
      shape={ROUTE}
      fresh={{ ...all[0], priority: all.length }}
      onChange={(now) => onChange({ ...model, routes: now })}
    />,
  ]
}

/** A count is written as a number; text that is none stays text, and the check says so. */
function inputs(shape: Shape, of: Fields, onChange: (now: Fields) => void, note?: (path: string) => ComponentChildren) {
  return Object.entries(shape).map(([path, label]) => (
    <div key={path}>
      <Field
        label={label}
        value={String(valueAt(of, path) ?? '')}
        inputMode={COUNTS.has(path) ? 'numeric' : 'text'}
        onInput={(text) => onChange(withValue(of, path, COUNTS.has(path) && /^\d+$/.test(text) ? Number(text) : text))}
      />
      {note?.(path)}
    </div>
  ))
}

function valueAt(of: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (at as Fields | undefined)?.[name], of)
}

/** The fields with this value; an empty one is left out, and so is an object that has none left. */
function withValue(of: Fields, path: string, value: unknown): Fields {
  const [name = '', ...rest] = path.split('.')
  const below = rest.length > 0 ? withValue((of[name] ?? {}) as Fields, rest.join('.'), value) : value
  const isEmpty = below === '' || (rest.length > 0 && Object.keys(below as Fields).length === 0)
  const { [name]: _, ...others } = of
  return isEmpty ? others : { ...of, [name]: below }
}

function listIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []
}

type ListedProps = {
  readonly legend: string
  readonly what: string
  readonly of: readonly Fields[]
  readonly shape: Shape
  readonly fresh: Fields | false
  readonly onChange: (now: readonly Fields[]) => void
}

function Listed({ legend, what, of: all, shape, fresh, onChange }: ListedProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {all.map((one, i) => (
        <div key={i} class="columns listed">
          {inputs(shape, one, (now) => onChange(all.with(i, now)))}
          <Button aria-label={`Remove ${what} ${i + 1}`} onClick={() => onChange(all.toSpliced(i, 1))}>
            Remove
          </Button>
        </div>
      ))}
      {fresh && <Button onClick={() => onChange([...all, fresh])}>Add a {what}</Button>}
    </fieldset>
  )
}
