import { useRef } from 'preact/hooks'
import type { Overview } from '../../../layers/admin/api/shapes/usage.ts'
import { CopyButton } from '../../parts/controls.tsx'
import { counted, countOf, sumOf } from '../../parts/numbers.ts'
import { Panel, Share } from '../../parts/page.tsx'
import { type Column, cell, count, credits, name, number, Table } from '../../parts/table.tsx'
import { Badge, Moment, NameLink, routeState, STATES } from '../../parts/values.tsx'
import { linkTo } from '../../router.ts'
import { identityHere } from '../../session.ts'
import { asCurl } from '../playground/as-code.ts'

const LOW_COLUMNS: readonly Column<Overview['low'][number] | Overview['low_accounts'][number]>[] = [
  name('Name', (key) => <NameLink id={key.id} name={key.name} />),
  credits('Left', (key) => key.available),
  number('State', ({ badges }) => ['empty', 'low'].map((badge) => badges.includes(badge) && <Badge of={badge} />)),
]

export function Low({ of: { low_accounts, low: low_keys, keys } }: { readonly of: Overview }) {
  const low = [...low_accounts, ...low_keys]
  return [
    <header class="row wrap between">
      <h2>About to run dry</h2>
      <span class="quiet">
        {STATES.filter((state) => keys[state] > 0).map((state) => (
          <a key={state} class="badge" href={linkTo(['keys'], { status: state })}>
            {counted(keys[state])} {state}
          </a>
        ))}
      </span>
    </header>,
    low.length > 0 && <Table caption="About to run dry" columns={LOW_COLUMNS} rows={low} by="id" />,
    low.length === 0 && keys.active > 0 && <p class="quiet">None, at the last week’s rate.</p>,
    keys.active === 0 && (
      <p>
        There is no active key. <a href={linkTo(['keys'], { act: 'create' })}>Create key</a>
      </p>
    ),
  ]
}

type Entry = Overview['top_keys'][number]
type TopProps = { readonly title: string; readonly of: readonly Entry[]; readonly linkOf: (id: string) => string }

export function Top({ title, of: entries, linkOf }: TopProps) {
  const most = Math.max(...entries.map(({ cost }) => Number(cost)))
  const columns: readonly Column<Entry>[] = [
    name('Name', ({ id, name: shown }) => <a href={linkOf(id)}>{shown}</a>),
    cell('Share', ({ cost }) => <Share of={most > 0 ? Number(cost) / most : 0} />),
    credits('Charged', ({ cost }) => cost),
  ]
  return [
    <h2>{title}</h2>,
    entries.length === 0 && <p class="quiet">None in this range.</p>,
    entries.length > 0 && <Table caption={title} columns={columns} rows={entries.slice(0, 5)} by="id" />,
  ]
}

const PROVIDER_COLUMNS: readonly Column<ProviderState>[] = [
  name('Provider', ({ provider }) => <a href={linkTo(['requests'], { provider })}>{provider}</a>),
  cell('State', ({ attempts, failures }) => <Badge of={routeState(attempts, failures)} />),
  count('Routes', ({ routes }) => routes),
  count('Attempts in 24 h', ({ attempts }) => attempts),
  count('Failed', ({ failures }) => failures),
]

export function Providers({ of: { routes } }: { readonly of: Overview }) {
  return (
    <Panel title="Providers">
      <Table caption="Providers" columns={PROVIDER_COLUMNS} rows={providersOf(routes)} by="provider" />
    </Panel>
  )
}

export function Books({ of: { last_audit: audit } }: { readonly of: Overview }) {
  const proven = audit?.wrong === 0 ? 'Balanced' : `${audit?.wrong} wrong`
  const state = audit ? proven : 'Check that every charge is accounted for'
  return [
    <h2>Books</h2>,
    <p>
      <a href={linkTo(['books'])}>{state}</a> <span class="quiet">{audit && <Moment at={audit.at} isBrief />}</span>
    </p>,
  ]
}

export function Attention({ of: data }: { readonly of: Overview }) {
  const failing = providersOf(data.routes).filter(
    ({ attempts, failures }) => !['ok', 'not asked'].includes(routeState(attempts, failures)),
  )
  const wrong = data.last_audit?.wrong ?? 0
  return [
    failing.map(({ provider, attempts, failures }) => (
      <p key={provider} class="notice warn">
        {provider} failed in {counted(failures)} of {counted(attempts)} attempts in 24 hours.{' '}
        <a href={linkTo(['routes'])}>See the routes</a>
      </p>
    )),
    wrong > 0 && (
      <p class="notice bad">
        The last audit found {countOf(wrong, 'balance')} wrong. <a href={linkTo(['books'])}>See the books</a>
      </p>
    ),
  ]
}

type ProviderState = ReturnType<typeof providersOf>[number]

/** The routes of each provider together. One upstream model may stand behind several, and is counted once. */
function providersOf(routes: Overview['routes']) {
  return [...Map.groupBy(routes, ({ provider }) => provider)].map(([provider, own]) => {
    const models = [...new Map(own.map((route) => [route.upstream_model, route])).values()]
    return {
      provider,
      routes: own.length,
      attempts: sumOf(models, (route) => route.requests_24h),
      failures: sumOf(models, (route) => route.failures_24h),
    }
  })
}

export function isNew({ range, spent_7_days, requests_today }: Overview): boolean {
  return range.requests === 0 && Number(spent_7_days) === 0 && requests_today === 0
}

export function FirstSteps({ of: data }: { readonly of: Overview }) {
  const wasNew = useRef(false)
  wasNew.current ||= isNew(data)
  if (isNew(data)) return <Steps model={data.routes[0]?.model} />
  if (!wasNew.current) return null
  return (
    <p class="notice good">
      The first request has come. <a href={linkTo(['requests'])}>See what it was charged</a>
    </p>
  )
}

function Steps({ model = 'echo' }: { readonly model: string | undefined }) {
  const { base_url: baseUrl } = identityHere()
  const code = asCurl({ baseUrl, body: { model, messages: [{ role: 'user', content: 'Hello' }] } })
  return (
    <Panel title="Make the first request" class="apart">
      <ol>
        <li>
          <a href={linkTo(['keys'])}>Create a key</a>, or take the one that the gateway printed when it started.
        </li>
        <li>
          Send this, with the key in <code>WAYBILL_KEY</code>. Any OpenAI SDK works with the base URL{' '}
          <code>{baseUrl}</code>.<pre>{code}</pre>
          <CopyButton text={() => code} what="the command" />
        </li>
        <li class="quiet" aria-live="polite">
          Waiting for the first request…
        </li>
      </ol>
    </Panel>
  )
}
