import type { Overview } from '../../../layers/admin/api/shapes/usage.ts'
import { Badge, routeState, STATES } from '../../parts/badge.tsx'
import { KeyLink } from '../../parts/links.tsx'
import { Moment } from '../../parts/moment.tsx'
import { counted } from '../../parts/numbers.ts'
import { Panel } from '../../parts/panel.tsx'
import { Share } from '../../parts/share.tsx'
import { type Column, cell, count, credits, name, number, Table } from '../../parts/table.tsx'
import { linkTo } from '../../router.ts'
import { type ProviderState, providersOf } from './providers-of.ts'

const LOW_COLUMNS: readonly Column<Overview['low'][number]>[] = [
  name('Key', (key) => <KeyLink id={key.id} name={key.name} />),
  credits('Left', (key) => key.available),
  number('State', (key) => key.badges.filter(isOfCredits).map((badge) => <Badge key={badge} of={badge} />)),
]

function isOfCredits(badge: string): boolean {
  return badge === 'empty' || badge === 'low'
}

export function Low({ of: { low, keys } }: { readonly of: Overview }) {
  return (
    <>
      <header class="row wrap between">
        <h2>About to run dry</h2>
        <span class="quiet">
          {STATES.filter((state) => keys[state] > 0).map((state) => (
            <a key={state} class="badge" href={linkTo(['keys'], { status: state })}>
              {counted(keys[state])} {state}
            </a>
          ))}
        </span>
      </header>
      {low.length > 0 && <Table caption="About to run dry" columns={LOW_COLUMNS} rows={low} keyOf={(key) => key.id} />}
      {low.length === 0 && keys.active > 0 && <p class="quiet">None, at the last week’s rate.</p>}
      {keys.active === 0 && (
        <p>
          There is no active key. <a href={linkTo(['keys'], { act: 'create' })}>Create key</a>
        </p>
      )}
    </>
  )
}

type Entry = Overview['top_keys'][number]
type TopProps = {
  readonly title: string
  readonly of: readonly Entry[]
  readonly linkOf: (id: string) => string
}

export function Top({ title, of: entries, linkOf }: TopProps) {
  const most = Math.max(...entries.map(({ cost }) => Number(cost)))
  const columns: readonly Column<Entry>[] = [
    name('Name', ({ id, name: shown }) => <a href={linkOf(id)}>{shown}</a>),
    cell('Share', ({ cost }) => <Share of={most > 0 ? Number(cost) / most : 0} />),
    credits('Charged', ({ cost }) => cost),
  ]
  return (
    <>
      <h2>{title}</h2>
      {entries.length === 0 ? (
        <p class="quiet">None in this range.</p>
      ) : (
        <Table caption={title} columns={columns} rows={entries.slice(0, 5)} keyOf={({ id }) => id} />
      )}
    </>
  )
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
      <Table
        caption="Providers"
        columns={PROVIDER_COLUMNS}
        rows={providersOf(routes)}
        keyOf={({ provider }) => provider}
      />
    </Panel>
  )
}

export function Books({ of: { last_audit: audit } }: { readonly of: Overview }) {
  return (
    <>
      <h2>Books</h2>
      <p>
        {audit ? (
          <>
            <a href={linkTo(['books'])}>{audit.wrong === 0 ? 'Balanced' : `${audit.wrong} of ${audit.keys} wrong`}</a>{' '}
            <span class="quiet">
              <Moment at={audit.at} isBrief />
            </span>
          </>
        ) : (
          <a href={linkTo(['books'])}>Check that every charge is accounted for</a>
        )}
      </p>
    </>
  )
}
