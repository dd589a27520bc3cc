import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { EventChange } from './event-change.tsx'
import { KeyLink } from './links.tsx'
import { Moment } from './moment.tsx'

export const EVENT_HEAD = (
  <>
    <th scope="col">When</th>
    <th scope="col">What</th>
    <th scope="col">Before → after</th>
    <th scope="col">By</th>
  </>
)

export function EventRow({ of: event, hasKey }: { readonly of: EventShape; readonly hasKey?: boolean }) {
  return (
    <tr>
      <td>
        <Moment at={event.at} />
      </td>
      <td>
        {event.what}
        {hasKey && event.key_id?.startsWith('key_') && (
          <>
            {' '}
            <KeyLink id={event.key_id} />
          </>
        )}
      </td>
      <td class="wide">
        <EventChange event={event} />
      </td>
      <td class="wide">{event.by}</td>
    </tr>
  )
}
