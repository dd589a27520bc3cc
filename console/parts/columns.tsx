import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { changeLines, EVENT_WORDS } from '../../layers/admin/settings/event-words.ts'
import { linkTo } from '../router.ts'
import { counted } from './numbers.ts'
import { Lines } from './page.tsx'
import { type Column, cell, credits, extra, name, number } from './table.tsx'
import { Badge, KeyName, Moment, RequestLink, Status, Took } from './values.tsx'

/** `arn:aws:iam::123456789012:user/ana` is ana; all of it when it is pointed at. */
export function By({ of }: { readonly of: string }) {
  return <span title={of}>{of.replace(/^arn:.*\//, '')}</span>
}

export function eventColumns(...more: readonly Column<EventShape>[]): readonly Column<EventShape>[] {
  return [
    cell('When', (event) => <Moment at={event.at} isBrief />, 'bare'),
    cell('What', (event) => <Badge of={event.what} />),
    ...more,
    cell('Change', (event) => <EventLine event={event} />, 'rest'),
    cell(
      'By',
      ({ by }) => (
        <a href={linkTo(['changes'], { by })}>
          <By of={by} />
        </a>
      ),
      'short',
    ),
  ]
}

function EventLine({ event }: { readonly event: EventShape }) {
  const lines = linesOf(event)
  const shown = lines.join(' · ')
  if (lines.length <= 1) return shown && <span title={shown}>{shown}</span>
  return (
    <details class="folded">
      <summary>{shown}</summary>
      <Lines of={lines} />
    </details>
  )
}

export const linesOf = (event: EventShape) => changeLines(event, (field) => `${EVENT_WORDS.get(field) ?? field}:`)

export const REQUEST_COLUMNS: readonly Column<RequestLine>[] = [
  cell('When', (line) => <Moment at={line.started_at} isBrief />, 'bare'),
  cell('Status', (line) => <Status of={line} />),
  cell('Model', modelOf, 'fill'),
  extra(number('Tokens in / out', tokensOf)),
  credits('Charged', (line) => line.cost),
  extra(number('First token', (line) => <Took ms={line.ttft_ms} />)),
  extra(number('Duration', (line) => <Took ms={line.duration_ms} />)),
  cell('Key', (line) => <KeyName of={line} />, 'short'),
  name('Request', (line) => <RequestLink id={line.request_id} isShort />),
]

function tokensOf({ total_tokens, prompt_tokens, completion_tokens }: RequestLine) {
  return total_tokens > 0 && `${counted(prompt_tokens)} / ${counted(completion_tokens)}`
}

function modelOf({ model, endpoint, provider }: RequestLine) {
  return [model ?? <span class="quiet">{endpoint}</span>, provider && <span class="quiet"> by {provider}</span>]
}
