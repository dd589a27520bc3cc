import { Button } from '../../parts/button.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { type Model, modelsIn, type Prices } from '../../parts/models-in.ts'
import { costOf, marginText } from './margin.ts'

type Props = {
  readonly catalog: unknown
  readonly id: string
  readonly onChoose: (id: string) => void
  readonly onChange: (catalog: object) => void
}

const PRICES = [
  ['input', 'Input'],
  ['output', 'Output'],
  ['cachedInput', 'Cached input'],
  ['cacheWrite', 'Cache write'],
  ['cacheWrite1h', 'Cache write, 1 h'],
  ['request', 'Each request'],
  ['image', 'Each image'],
] as const
const OF_TIER = ['above', 'input', 'output', 'cachedInput'] as const
const OF_ROUTE = ['provider', 'model', 'priority', 'weight'] as const
const OF_COST = ['input', 'output', 'cachedInput'] as const
const MOST_TIERS = 4

const WORDS: Readonly<Record<string, string>> = {
  above: 'Above tokens',
  input: 'Input',
  output: 'Output',
  cachedInput: 'Cached',
  provider: 'Provider',
  model: 'Its model',
  priority: 'Priority',
  weight: 'Weight',
}
const COUNTS = new Set(['above', 'priority', 'weight', 'contextLength', 'maxOutputTokens'])

/** One model of the draft. Every change is written into its JSON. */
export function ModelForm({ catalog, id, onChoose, onChange }: Props) {
  const models = modelsIn(catalog)
  const model = models.find((one) => one.id === id)
  const write = (now: readonly Model[]) => onChange({ ...(catalog as object), models: now })
  const change = (changes: Partial<Model>) =>
    write(models.map((one) => (one === model ? (without(changes, one) as Model) : one)))
  const add = () => {
    const provider = Object.keys((catalog as { providers?: object }).providers ?? {})[0] ?? ''
    const fresh = freshModel(models, provider)
    write([...models, fresh])
    onChoose(fresh.id)
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
      {model && (
        <>
          <div class="columns">
            <Field
              label="Name for callers"
              value={model.id}
              onInput={(text) => {
                change({ id: text })
                onChoose(text)
              }}
            />
            {(['contextLength', 'maxOutputTokens'] as const).map((name) => (
              <Value key={name} of={model} name={name} label={SIZES[name]} onChange={change} />
            ))}
          </div>
          <label class="sure">
            <input
              type="checkbox"
              checked={model.active !== false}
              onChange={({ currentTarget }) => change({ active: currentTarget.checked })}
            />{' '}
            Active
          </label>
          <PriceFields of={model} onChange={(price) => change({ price })} />
          <Tiers of={model.price ?? {}} onChange={(price) => change({ price })} />
          <Routes of={model} onChange={(routes) => change({ routes })} />
        </>
      )}
    </section>
  )
}

const SIZES = { contextLength: 'Context length', maxOutputTokens: 'Max output' } as const

function freshModel(models: readonly Model[], provider: string): Model {
  let n = models.length + 1
  while (models.some(({ id }) => id === `new-model-${n}`)) n += 1
  const size = { contextLength: 128_000, maxOutputTokens: 16_384 }
  return {
    id: `new-model-${n}`,
    ...size,
    price: { input: '1', output: '2' },
    routes: [{ provider, model: '', cost: { input: '0.8', output: '1.6' } }],
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The fields with the changes; an empty one is left out. */
function without(changes: Fields, from: Fields): Fields {
  const entries = Object.entries({ ...from, ...changes }).filter(([, value]) => value !== '' && value !== undefined)
  return Object.fromEntries(entries)
}

function orNone(fields: Fields): Fields | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined
}

type ValueProps = {
  readonly of: Fields
  readonly name: string
  readonly label?: string | undefined
  readonly onChange: (changes: Fields) => void
}

/** A number is written as one; what is none stays text, and the check says so. */
function Value({ of, name, label = WORDS[name], onChange }: ValueProps) {
  const isCount = COUNTS.has(name)
  const written = (text: string) => (isCount && /^\d+$/.test(text) ? Number(text) : text)
  return (
    <Field
      label={label ?? name}
      value={String(of[name] ?? '')}
      inputMode={isCount ? 'numeric' : 'text'}
      onInput={(text) => onChange({ [name]: written(text) })}
    />
  )
}

function PriceFields({ of: model, onChange }: { readonly of: Model; readonly onChange: (price: Prices) => void }) {
  const price = model.price ?? {}
  const shown = model.kind === 'embedding' ? PRICES.slice(0, 1) : PRICES
  return (
    <fieldset>
      <legend>Prices in credits per million tokens, with the provider cost</legend>
      <div class="columns">
        {shown.map(([name, label]) => {
          const cost = costOf(model, name)
          const margin = marginText(price[name], cost)
          return (
            <div key={name}>
              <Value of={price} name={name} label={label} onChange={(changes) => onChange(without(changes, price))} />
              {cost !== undefined && (
                <p class="note">
                  Cost {cost}
                  {margin && (
                    <>
                      , margin <span class={margin.startsWith('−') ? 'bad-text' : 'good-text'}>{margin}</span>
                    </>
                  )}
                </p>
              )}
            </div>
          )
        })}
      </div>
    </fieldset>
  )
}

function Tiers({ of: price, onChange }: { readonly of: Prices; readonly onChange: (price: Prices) => void }) {
  const tiers = listIn(price.tiers)
  const set = (now: readonly Fields[]) => onChange(without({ tiers: now.length > 0 ? now : undefined }, price))
  return (
    <fieldset>
      <legend>Prices of long prompts</legend>
      <Listed of={tiers} names={OF_TIER} what="tier" onChange={set} />
      {tiers.length < MOST_TIERS && (
        <Button onClick={() => set([...tiers, { above: 200_000, input: price.input, output: price.output }])}>
          Add a tier
        </Button>
      )}
    </fieldset>
  )
}

type RoutesProps = { readonly of: Model; readonly onChange: (routes: NonNullable<Model['routes']>) => void }

function Routes({ of: model, onChange }: RoutesProps) {
  const routes = listIn(model.routes)
  const set = (now: readonly Fields[]) => onChange(now as NonNullable<Model['routes']>)
  return (
    <fieldset>
      <legend>Routes, and their provider cost</legend>
      <Listed of={routes} names={OF_ROUTE} costs={OF_COST} what="route" onChange={set} />
      <Button onClick={() => set([...routes, { ...routes[0], priority: routes.length }])}>Add a route</Button>
    </fieldset>
  )
}

function listIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []
}

type ListedProps = {
  readonly of: readonly Fields[]
  readonly names: readonly string[]
  readonly costs?: readonly string[]
  readonly what: string
  readonly onChange: (now: readonly Fields[]) => void
}

function Listed({ of: all, names, costs = [], what, onChange }: ListedProps) {
  const change = (i: number, changes: Fields) => onChange(all.map((one, j) => (i === j ? without(changes, one) : one)))
  return (
    <>
      {all.map((one, i) => {
        const cost = (one.cost ?? {}) as Fields
        return (
          <div key={i} class="columns listed">
            {names.map((name) => (
              <Value key={name} of={one} name={name} onChange={(changes) => change(i, changes)} />
            ))}
            {costs.map((name) => (
              <Value
                key={`cost ${name}`}
                of={cost}
                name={name}
                label={`${WORDS[name]} cost`}
                onChange={(changes) => change(i, { cost: orNone(without(changes, cost)) })}
              />
            ))}
            <Button aria-label={`Remove ${what} ${i + 1}`} onClick={() => onChange(all.filter((_, j) => j !== i))}>
              Remove
            </Button>
          </div>
        )
      })}
    </>
  )
}
