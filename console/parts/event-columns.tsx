import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { Badge } from './badge.tsx'
import { EventLine } from './event-change.tsx'
import { Moment } from './moment.tsx'
import { type Column, cell } from './table.tsx'

/** `arn:aws:iam::123456789012:user/ana` is ana; all of it when it is pointed at. */
export function By({ of }: { readonly of: string }) {
  return <span title={of}>{of.replace(/^arn:.*\//, '')}</span>
}

/** With further columns where events of several keys are shown. */
export function eventColumns(...more: readonly Column<EventShape>[]): readonly Column<EventShape>[] {
  return [
    cell('When', (event) => <Moment at={event.at} isBrief />),
    cell('What', (event) => <Badge of={event.what} />),
    ...more,
    cell('Change', (event) => <EventLine event={event} />, 'rest'),
    cell('By', (event) => <By of={event.by} />, 'short'),
  ]
}
