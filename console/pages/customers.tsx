import { useMemo, useState } from 'preact/hooks'
import { listed } from '../../cli/books/ask-books.ts'
import type { AccountMade, AccountShape } from '../../layers/admin/api/shapes/accounts.ts'
import type { CreateAccountBody } from '../../layers/admin/api/shapes/bodies.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { ask, failureFrom, post } from '../api.ts'
import {
  announce,
  Button,
  Choice,
  download,
  Field,
  optionsOf,
  ReferenceField,
  SearchField,
} from '../parts/controls.tsx'
import { customersCsv, keysCsv } from '../parts/csv.ts'
import { ActDialog } from '../parts/dialog.tsx'
import { Views } from '../parts/filters.tsx'
import { compareCredits } from '../parts/numbers.ts'
import { Bar, Empty, isFound, LeftBar, noneLike, Page } from '../parts/page.tsx'
import { SettingsForm } from '../parts/settings-form.tsx'
import { type Column, cell, count, credits, extra, name, number, Rows } from '../parts/table.tsx'
import { CUSTOMER_FORM, settingsOf, type Typed } from '../parts/typed-settings.ts'
import { useDraft } from '../parts/use-draft.ts'
import { useList } from '../parts/use-load.ts'
import { BADGE_WORDS, Badge, Credits, CUSTOMER_STATES, Moment, NameLink, STATES, State } from '../parts/values.tsx'
import { filtersIn, go, type PageUrl, pageTitle, placeOf, queryText, titleOf, withQuery } from '../router.ts'
import { ACT_NAMES, type Act, BulkAct, CreateKey } from './keys/acts.tsx'
import { Playground } from './playground.tsx'
import { Search } from './search.tsx'

const FILTERS = ['status', 'look', 'q', 'sort', 'act'] as const
const LOOKS = optionsOf('All keys', Object.keys(BADGE_WORDS), (badge) => titleOf(BADGE_WORDS[badge] ?? badge))

/** A list to its end: the page may show its beginning only. */
async function saveAll<T>(list: string, query: Readonly<Record<string, string>>, csvOf: (all: readonly T[]) => string) {
  try {
    announce('Reading…')
    const { data } = await listed<T>((path, asked) => ask(`/${path}?${queryText(asked ?? {})}`), list, query)
    download(`${pageTitle(list).toLowerCase()}.csv`, csvOf(data))
    announce('')
  } catch (error) {
    announce(failureFrom(error).message)
  }
}

function Keys({ url }: { readonly url: PageUrl }) {
  const { query, filter } = filtersIn(url, FILTERS)
  const { status, look, q, sort } = query
  const order = orderOf(sort)
  // An order, or a search, among the loaded rows alone would be misleading, so all rows are loaded first.
  const isWhole = Boolean(order || look || q)
  const keys = useList<KeyShape>('/keys', { status }, isWhole ? 250 : 0)
  const shownOf = (all: readonly KeyShape[]) => {
    const found = all.filter(
      ({ badges, id, name, account_name, external_id, last_four }) =>
        (!look || badges.includes(look)) && isFound([id, name, account_name, external_id, last_four], q),
    )
    return order ? found.toSorted(order) : found
  }
  const rows = useMemo(() => shownOf(keys.rows), [keys.rows, look, q, sort])
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [act, setAct] = useState<{ readonly name: Act; readonly keys: readonly KeyShape[] } | undefined>(undefined)
  const selected = rows.filter(({ id }) => chosen.has(id))
  const living = selected.filter((key) => key.status !== 'revoked')
  const save = () =>
    selected.length > 0
      ? download('keys.csv', keysCsv(selected))
      : void saveAll<KeyShape>('keys', { status }, (all) => keysCsv(shownOf(all)))
  const warning = look === 'no_allowlist' ? [cell<KeyShape>('Addresses', () => <Badge of="no_allowlist" />)] : []
  const create = (isOpen: boolean) => filter('act').onChange(isOpen ? 'create' : '')
  return (
    <Page
      title="Keys"
      actions={
        <Button class="primary" onClick={() => create(true)}>
          Create key
        </Button>
      }
    >
      <Bar
        search={<SearchField label="Find keys" placeholder="Name, customer, id or last four" {...filter('q')} />}
        end={[
          selected.length > 0 && [
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
          ],
          <Button onClick={save}>Export CSV</Button>,
        ]}
      >
        <Choice label="State" {...filter('status')} options={optionsOf('Any state', STATES, titleOf)} />
        <Choice label="Attention" {...filter('look')} options={LOOKS} />
        <Views url={url} />
      </Bar>
      <Rows
        of={isWhole && keys.isLoading ? { ...keys, rows: [] } : { ...keys, rows }}
        caption="Keys"
        order={`${look} ${q} ${sort}`}
        columns={[
          boxColumn(rows, chosen, setChosen),
          ...COLUMNS.map((column) => sortable(column, sort, (by) => withQuery(url, { sort: by }))),
          ...warning,
        ]}
        by="id"
        empty={status || look || q ? noneLike('keys') : NO_KEYS}
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

const COLUMNS: readonly Column<KeyShape>[] = [
  { ...name('Name', (key) => <NameLink id={key.id} name={key.name} />), class: 'fill' },
  cell('State', (key) => <State of={key} />),
  number('Balance', (key) => {
    if (key.account_id) return <NameLink id={key.account_id} name={key.account_name} />
    return [<Credits of={key.available} />, <LeftBar of={key} />]
  }),
  credits('Spent', (key) => key.spent),
  count('Calls today', (key) => key.calls_today),
  cell('Last used', (key) => <Moment at={key.last_used_at} isBrief />),
  extra(cell('External id', (key) => key.external_id, 'short')),
  cell('Ends in', (key) => <code>…{key.last_four}</code>),
]

type Compare = (a: KeyShape, b: KeyShape) => number

/** The order that the head of a column leads to first, by its name; after a minus it is from the highest down. */
const ORDERS: Readonly<Record<string, readonly [first: string, Compare]>> = {
  Name: ['name', (a, b) => a.name.localeCompare(b.name)],
  Balance: ['available', (a, b) => compareCredits(a.available, b.available)],
  Spent: ['-spent', (a, b) => compareCredits(a.spent, b.spent)],
  'Calls today': ['-today', (a, b) => a.calls_today - b.calls_today],
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
    class: 'bare',
    headOf: box('Select all keys shown', isAll, new Set(isAll ? [] : rows.map(({ id }) => id))),
    of: ({ id, name }) => box(`Select ${name}`, chosen.has(id), new Set(chosen).symmetricDifference(new Set([id]))),
  }
}

const NO_KEYS = (
  <Empty command="keys create --name acme --credits 25">
    There are no keys yet. <strong>Create key</strong> makes one, and so does
  </Empty>
)

function Accounts({ url }: { readonly url: PageUrl }) {
  const { query, filter } = filtersIn(url, ['status', 'q', 'act'])
  const { status, q } = query
  // A search among the loaded rows alone would be misleading, so all rows are loaded first.
  const customers = useList<AccountShape>('/accounts', { status }, q ? 100 : 0)
  const shownOf = (all: readonly AccountShape[]) =>
    all.filter(({ id, name, external_id, contact_name, contact_email }) =>
      isFound([id, name, external_id, contact_name, contact_email], q),
    )
  const rows = shownOf(customers.rows)
  const save = () => void saveAll<AccountShape>('accounts', { status }, (all) => customersCsv(shownOf(all)))
  const create = (isOpen: boolean) => filter('act').onChange(isOpen ? 'create' : '')
  return (
    <Page
      title="Customers"
      actions={
        <Button class="primary" onClick={() => create(true)}>
          Create customer
        </Button>
      }
    >
      <Bar
        search={<SearchField label="Find customers" placeholder="Name, external id or contact" {...filter('q')} />}
        end={<Button onClick={save}>Export CSV</Button>}
      >
        <Choice label="State" {...filter('status')} options={optionsOf('Any state', CUSTOMER_STATES, titleOf)} />
      </Bar>
      <Rows
        of={q && customers.isLoading ? { ...customers, rows: [] } : { ...customers, rows }}
        caption="Customers"
        columns={CUSTOMER_COLUMNS}
        by="id"
        empty={status || q ? noneLike('accounts') : NO_CUSTOMERS}
      />
      {query.act === 'create' && <CreateCustomer onClose={() => create(false)} />}
    </Page>
  )
}

const CUSTOMER_COLUMNS: readonly Column<AccountShape>[] = [
  { ...name('Name', (one) => <NameLink id={one.id} name={one.name} />), class: 'fill' },
  cell('State', (one) => <State of={one} />),
  number('Balance', (one) => [<Credits of={one.available} />, <LeftBar of={one} />]),
  credits('Spent', (one) => one.spent),
  count('Keys', (one) => one.key_count),
  extra(cell('External id', (one) => one.external_id, 'short')),
  cell('Contact', (one) => one.contact_name ?? one.contact_email, 'short'),
  cell('Created', (one) => <Moment at={one.created_at} isBrief />),
]

const NO_CUSTOMERS = (
  <Empty command="accounts create --name acme --credits 25">
    There are no customers yet. A customer has one balance and as many keys as they like.{' '}
    <strong>Create customer</strong> makes one, and so does
  </Empty>
)

function CreateCustomer({ onClose }: { readonly onClose: () => void }) {
  const draft = useDraft<Typed>('customer', { credits: '0', reference: '' })
  const { credits = '', reference } = draft.typed
  const create = async (idempotencyKey: string) => {
    const body: CreateAccountBody = {
      ...settingsOf(draft.typed, CUSTOMER_FORM),
      credits: credits.trim(),
      ...(reference && { reference }),
    }
    const { id, name } = await post<AccountMade>('/accounts', idempotencyKey, body)
    announce(`The customer ${name} was made.`)
    go(placeOf(id))
  }
  return (
    <ActDialog title="Create a customer" verb="Create" draft={draft} onAct={create} onClose={onClose}>
      <SettingsForm form={CUSTOMER_FORM} typed={draft.typed} onChange={draft.set} />
      <Field label="Credits to begin with" number="credits" required {...draft.field('credits')} />
      <ReferenceField {...draft.field('reference')} />
    </ActDialog>
  )
}

export const PAGES = { accounts: Accounts, keys: Keys, search: Search, playground: Playground }
