import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { EventChange } from './event-change.tsx'
import { KeyLink } from './links.tsx'
import { Moment } from './moment.tsx'
import { type Column, cell } from './table.tsx'

/** With the key, where events of several are shown. */
export function eventColumns(hasKey = false): readonly Column<EventShape>[] {
  return [
    cell('When', (event) => <Moment at={event.at} />),
    cell('What', (event) => (
      <>
        {event.what}
        {hasKey && event.key_id?.startsWith('key_') && (
          <>
            {' '}
            <KeyLink id={event.key_id} />
          </>
        )}
      </>
    )),
    cell('Before → after', (event) => <EventChange event={event} />, 'wide'),
    cell('By', (event) => event.by, 'wide'),
  ]
}
