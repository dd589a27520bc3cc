import { useEffect } from 'preact/hooks'
import type { SearchShape } from '../../layers/admin/api/shapes/answers.ts'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { DAY_MS, HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import { EVENT_NAMES } from '../../layers/gateway/domain/keys/event-names.ts'
import { eventColumns, linesOf } from '../parts/columns.tsx'
import { Choice, optionsOf, SearchField } from '../parts/controls.tsx'
import { RangePicker, Views } from '../parts/filters.tsx'
import { dayText } from '../parts/numbers.ts'
import { Bar, isFound, Loading, noneLike, Page } from '../parts/page.tsx'
import { rangeOf } from '../parts/ranges.ts'
import { type Column, cell, name, Rows, Table } from '../parts/table.tsx'
import { useList, useLoad } from '../parts/use-load.ts'
import { Badge, NameLink, useNow } from '../parts/values.tsx'
import { filtersIn, linkTo, type PageUrl, placeOf, withQuery } from '../router.ts'
import { Overview } from './overview.tsx'
import { RequestPage } from './request.tsx'
import { Requests } from './requests.tsx'
import { Usage } from './usage.tsx'

const FILTERS = ['what', 'key_id', 'by', 'q'] as const
const KINDS = optionsOf('Every kind', Object.values(EVENT_NAMES), String)
/** A text is looked for in all changes since then, unless a day is given. */
const SEARCHED_DAYS = 90

const EVENTS = eventColumns(cell('Name', (event) => <NameLink id={event.key_id} name={event.key_name} />, 'short'))

export function Changes({ url }: { readonly url: PageUrl }) {
  const { query, filter } = filtersIn(url, FILTERS)
  const { q, ...asked } = query
  const now = useNow(HOUR_MS)
  const range = ['range', 'from', 'to'].some((name) => url.query.has(name)) ? rangeOf(url, now) : undefined
  const from = range?.from ?? (q && dayText(now - SEARCHED_DAYS * DAY_MS))
  const events = useList<EventShape>('/events', { ...asked, from, to: range?.to }, q ? 100 : 0)
  const rows = events.rows.filter((event) => !q || isFound([JSON.stringify(event), ...linesOf(event)], q))
  return (
    <Page title="Changes">
      <Bar search={<SearchField label="Find changes" placeholder="Name, field, value or person" {...filter('q')} />}>
        <Choice label="What" {...filter('what')} options={KINDS} />
        <RangePicker url={url} range={range} isFixed={false} />
        <Views url={url} />
        {(['key_id', 'by'] as const).map(
          (name) =>
            query[name] && (
              <a key={name} class="badge" href={withQuery(url, { [name]: null })} title="Show all again">
                {query[name]} ×
              </a>
            ),
        )}
      </Bar>
      {q && !range && <p class="quiet">Of the last {SEARCHED_DAYS} days.</p>}
      <Rows
        of={{ ...events, rows }}
        caption="Changes, newest first"
        columns={EVENTS}
        by="id"
        empty={noneLike('changes')}
      />
    </Page>
  )
}

export function Search({ url }: { readonly url: PageUrl }) {
  const text = url.query.get('q') ?? ''
  const found = useLoad<SearchShape>(`/search?${new URLSearchParams({ q: text })}`)
  const only = found.data && onlyOne(found.data)
  useEffect(() => {
    // Replaces the search in the history, so that going back leads to the page before it.
    if (only) location.replace(only)
  }, [only])
  return (
    <Page title={`Search: ${text}`}>
      <Loading of={found}>
        {({ accounts, keys }) => {
          const rows = [...accounts, ...keys]
          if (rows.length > 0) return <Table caption="Customers and keys found" columns={COLUMNS} rows={rows} by="id" />
          return (
            !only && (
              <p class="empty">
                Nothing has this id, name, reference or last four characters. A request is found by its whole id, which
                its answer has in <code>X-Request-Id</code>.
              </p>
            )
          )
        }}
      </Loading>
    </Page>
  )
}

function onlyOne({ accounts, keys, request_id }: SearchShape): string | undefined {
  if (request_id !== null) return linkTo(['requests', request_id])
  const [first, ...others] = [...accounts, ...keys]
  return first && others.length === 0 ? linkTo(placeOf(first.id)) : undefined
}

const COLUMNS: readonly Column<SearchShape['keys' | 'accounts'][number]>[] = [
  name('Name', (one) => <NameLink id={one.id} name={one.name} />),
  cell('What', (one) => (one.object === 'key' ? `key …${one.last_four}` : 'customer')),
  cell(
    'Customer',
    (one) => one.object === 'key' && one.account_id && <NameLink id={one.account_id} name={one.account_name} />,
  ),
  cell('State', (one) => <Badge of={one.status} />),
  cell('External id', (one) => one.external_id),
]

export const PAGES = {
  overview: Overview,
  requests: Requests,
  'requests/': RequestPage,
  usage: Usage,
  changes: Changes,
  search: Search,
}
