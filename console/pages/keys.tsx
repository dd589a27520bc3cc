import { useMemo, useState } from 'preact/hooks'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { Button, Choice, download, optionsOf, PrimaryButton, SearchField } from '../parts/controls.tsx'
import { keysCsv } from '../parts/csv.ts'
import { Views } from '../parts/filters.tsx'
import { compareCredits } from '../parts/numbers.ts'
import { Empty, LeftBar, Page } from '../parts/page.tsx'
import { type Column, cell, count, credits, name, number, Rows } from '../parts/table.tsx'
import { useList } from '../parts/use-load.ts'
import { BADGE_WORDS, Badge, Credits, Moment, NameLink, STATES, State } from '../parts/values.tsx'
import { filtersIn, linkTo, type PageUrl, titleOf, withQuery } from '../router.ts'
import { ACT_NAMES, type Act, BulkAct, CreateKey } from './keys/acts.tsx'

const FILTERS = ['status', 'look', 'q', 'sort', 'act'] as const
const LOOKS = optionsOf('All keys', Object.keys(BADGE_WORDS), (badge) => titleOf(BADGE_WORDS[badge] ?? badge))

export function Keys({ url }: { readonly url: PageUrl }) {
  const { query, filter } = filtersIn(url, FILTERS)
  const { status, look, q, sort } = query
  const order = orderOf(sort)
  // An order, or a search, among the loaded rows alone would be misleading, so all rows are loaded first.
  const isWhole = Boolean(order || look || q)
  const keys = useList<KeyShape>('/keys', { status }, isWhole ? 250 : 0)
  const rows = useMemo(() => {
    const found = keys.rows.filter((key) => (!look || key.badges.includes(look)) && isFoundBy(key, q.toLowerCase()))
    return order ? found.toSorted(order) : found
  }, [keys.rows, look, q, sort])
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [act, setAct] = useState<{ readonly name: Act; readonly keys: readonly KeyShape[] } | undefined>(undefined)
  const selected = rows.filter(({ id }) => chosen.has(id))
  const living = selected.filter((key) => key.status !== 'revoked')
  const warning = look === 'no_allowlist' ? [cell<KeyShape>('Addresses', () => <Badge of="no_allowlist" />)] : []
  const create = (isOpen: boolean) => filter('act').onChange(isOpen ? 'create' : '')
  return (
    <Page title="Keys" actions={<PrimaryButton onClick={() => create(true)}>Create key</PrimaryButton>}>
      <div class="row wrap bar">
        <SearchField label="Find keys" placeholder="Name, customer, id or last four" {...filter('q')} />
        <Choice label="State" {...filter('status')} options={optionsOf('Any state', STATES, titleOf)} />
        <Choice label="Attention" {...filter('look')} options={LOOKS} />
        <Views url={url} />
        <div class="row wrap push">
          {selected.length > 0 && [
            <span role="status">{selected.length} selected</span>,
            ACT_NAMES.map((name) => {
              // Those of a customer have no balance to grant to.
              const keys = name === 'grant' ? living.filter((key) => key.account_id === null) : living
              return (
                <Button
                  key={name}
                  class={name === 'revoke' ? 'danger' : undefined}
                  disabled={keys.length === 0}
                  onClick={() => setAct({ name, keys })}
                >
                  {titleOf(name)}…
                </Button>
              )
            }),
            <Button onClick={() => setChosen(new Set())}>Clear</Button>,
          ]}
          <Button onClick={() => download('keys.csv', keysCsv(selected.length > 0 ? selected : rows))}>
            Export CSV
          </Button>
        </div>
      </div>
      <Rows
        of={isWhole && keys.isLoading ? { ...keys, rows: [] } : { ...keys, rows }}
        caption="Keys"
        columns={[
          boxColumn(rows, chosen, setChosen),
          ...COLUMNS.map((column) => sortable(column, sort, (by) => withQuery(url, { sort: by }))),
          ...warning,
        ]}
        by="id"
        empty={status || look || q ? NONE_LIKE_THIS : NO_KEYS}
      />
      {query.act === 'create' && <CreateKey onClose={() => create(false)} onCreated={keys.reload} />}
      {act && (
        <BulkAct
          act={act.name}
          keys={act.keys}
          onChanged={keys.reload}
          onClose={() => {
            setAct(undefined)
            setChosen(new Set())
          }}
        />
      )}
    </Page>
  )
}

function isFoundBy({ id, name, account_name, external_id, last_four }: KeyShape, text: string): boolean {
  return [id, name, account_name, external_id, last_four].some((part) => part?.toLowerCase().includes(text))
}

const COLUMNS: readonly Column<KeyShape>[] = [
  { ...name('Name', (key) => <NameLink id={key.id} name={key.name} />), class: 'fill' },
  cell('State', (key) => <State of={key} />),
  number('Balance', (key) => {
    if (key.account_id) return <NameLink id={key.account_id} name={key.account_name} />
    return [<Credits of={key.available} />, <LeftBar of={key} />]
  }),
  credits('Spent', (key) => key.spent),
  count('Today', (key) => key.requests_today),
  cell('Last used', (key) => <Moment at={key.last_used_at} isBrief />),
  cell('External id', (key) => key.external_id, 'short'),
  cell('Ends in', (key) => <code>…{key.last_four}</code>),
]

type Compare = (a: KeyShape, b: KeyShape) => number

/** The order that the head of a column leads to first, by its name; after a minus it is from the highest down. */
const ORDERS: Readonly<Record<string, readonly [first: string, Compare]>> = {
  Name: ['name', (a, b) => a.name.localeCompare(b.name)],
  Balance: ['available', (a, b) => compareCredits(a.available, b.available)],
  Spent: ['-spent', (a, b) => compareCredits(a.spent, b.spent)],
  Today: ['-today', (a, b) => a.requests_today - b.requests_today],
  'Last used': ['-last_used', (a, b) => (a.last_used_at ?? '').localeCompare(b.last_used_at ?? '')],
}

const bare = (order: string) => order.replace(/^-/, '')

function orderOf(by: string): Compare | undefined {
  const [, compare] = Object.values(ORDERS).find(([first]) => bare(first) === bare(by)) ?? []
  return compare && by.startsWith('-') ? (a, b) => compare(b, a) : compare
}

function sortable(column: Column<KeyShape>, by: string, hrefOf: (by: string) => string): Column<KeyShape> {
  const [first] = ORDERS[column.head] ?? []
  if (first === undefined) return column
  const isSorted = bare(by) === bare(first)
  const isDown = by.startsWith('-')
  const next = isDown ? bare(by) : `-${by}`
  return {
    ...column,
    sorted: isSorted ? (isDown ? 'descending' : 'ascending') : undefined,
    headOf: (
      <a class="sort" href={hrefOf(isSorted ? next : first)}>
        {column.head}
        {isSorted && <span aria-hidden="true">{isDown ? ' ↓' : ' ↑'}</span>}
      </a>
    ),
  }
}

type Chosen = ReadonlySet<string>

function boxColumn(rows: readonly KeyShape[], chosen: Chosen, choose: (ids: Chosen) => void): Column<KeyShape> {
  const isAll = rows.length > 0 && rows.every(({ id }) => chosen.has(id))
  const box = (label: string, checked: boolean, ids: Chosen) => (
    <input type="checkbox" aria-label={label} checked={checked} onChange={() => choose(ids)} />
  )
  return {
    head: 'Select',
    headOf: box('Select all keys shown', isAll, new Set(isAll ? [] : rows.map(({ id }) => id))),
    of: ({ id, name }) => box(`Select ${name}`, chosen.has(id), new Set(chosen).symmetricDifference(new Set([id]))),
  }
}

const NONE_LIKE_THIS = (
  <Empty>
    No keys match these filters. <a href={linkTo(['keys'])}>Show all keys</a>
  </Empty>
)

const NO_KEYS = (
  <Empty command="keys create --name acme --credits 25">
    There are no keys yet. <strong>Create key</strong> makes one, and so does
  </Empty>
)
