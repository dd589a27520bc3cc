import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { DAY_MS, HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import { EVENT_NAMES } from '../../layers/gateway/domain/keys/event-names.ts'
import { eventColumns, linesOf } from '../parts/columns.tsx'
import { Choice, optionsOf, SearchField } from '../parts/controls.tsx'
import { RangePicker, Views } from '../parts/filters.tsx'
import { dayText } from '../parts/numbers.ts'
import { Empty, Page } from '../parts/page.tsx'
import { rangeOf } from '../parts/ranges.ts'
import { cell, Rows } from '../parts/table.tsx'
import { useList } from '../parts/use-load.ts'
import { NameLink, useNow } from '../parts/values.tsx'
import { filtersIn, linkTo, type PageUrl, withQuery } from '../router.ts'

const FILTERS = ['what', 'key_id', 'by', 'q'] as const
const KINDS = optionsOf('Every kind', Object.values(EVENT_NAMES), String)
/** A text is looked for in all changes since then, unless a day is given. */
const SEARCHED_DAYS = 90

const COLUMNS = eventColumns(cell('Name', (event) => <NameLink id={event.key_id} name={event.key_name} />, 'short'))

export function Changes({ url }: { readonly url: PageUrl }) {
  const { query, filter } = filtersIn(url, FILTERS)
  const { q, ...asked } = query
  const now = useNow(HOUR_MS)
  const range = ['range', 'from', 'to'].some((name) => url.query.has(name)) ? rangeOf(url, now) : undefined
  const from = range?.from ?? (q && dayText(now - SEARCHED_DAYS * DAY_MS))
  const events = useList<EventShape>('/events', { ...asked, from, to: range?.to }, q ? 100 : 0)
  const textOf = (event: EventShape) => `${JSON.stringify(event)} ${linesOf(event)}`.toLowerCase()
  const rows = events.rows.filter((event) => !q || textOf(event).includes(q.toLowerCase()))
  return (
    <Page title="Changes">
      <div class="row wrap bar">
        <SearchField label="Find changes" placeholder="Name, field, value or person" {...filter('q')} />
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
      </div>
      {q && !range && <p class="quiet">Of the last {SEARCHED_DAYS} days.</p>}
      <Rows
        of={{ ...events, rows }}
        caption="Changes, newest first"
        columns={COLUMNS}
        by="id"
        empty={
          <Empty command="events list">
            No changes match these filters. <a href={linkTo(['changes'])}>Show all</a>, or list them with
          </Empty>
        }
      />
    </Page>
  )
}
