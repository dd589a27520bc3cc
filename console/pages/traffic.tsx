import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { DAY_MS, HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import { EVENT_NAMES } from '../../layers/gateway/domain/keys/event-names.ts'
import { eventColumns, linesOf } from '../parts/columns.tsx'
import { Choice, optionsOf, SearchField } from '../parts/controls.tsx'
import { RangePicker, Views } from '../parts/filters.tsx'
import { dayText } from '../parts/numbers.ts'
import { Bar, isFound, noneLike, Page } from '../parts/page.tsx'
import { rangeOf } from '../parts/ranges.ts'
import { cell, Rows } from '../parts/table.tsx'
import { useList } from '../parts/use-load.ts'
import { NameLink, useNow } from '../parts/values.tsx'
import { filtersIn, type PageUrl, withQuery } from '../router.ts'
import { Overview } from './overview.tsx'
import { RequestPage } from './request.tsx'
import { Requests } from './requests.tsx'
import { Usage } from './usage.tsx'

const FILTERS = ['what', 'key_id', 'by', 'q'] as const
const KINDS = optionsOf('Every kind', Object.values(EVENT_NAMES), String)
/** A text is looked for in all changes since then, unless a day is given. */
const SEARCHED_DAYS = 90

const EVENTS = eventColumns(cell('Name', (event) => <NameLink id={event.key_id} name={event.key_name} />, 'short'))

function Changes({ url }: { readonly url: PageUrl }) {
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

export const PAGES = {
  overview: Overview,
  requests: Requests,
  'requests/': RequestPage,
  usage: Usage,
  changes: Changes,
}
