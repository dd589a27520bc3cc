import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { linkTo } from '../router.ts'
import { Status } from './badge.tsx'
import { Moment, Took } from './moment.tsx'
import { counted } from './numbers.ts'
import { type Column, cell, credits, name, number } from './table.tsx'

export function KeyLink({ id, name }: { readonly id: string; readonly name?: string | null | undefined }) {
  return <a href={linkTo(['keys', id])}>{name || <code>{id}</code>}</a>
}

/** The last signs of an id are those that differ; all of it when it is pointed at. */
const SHORT = 6

export function RequestLink({ id, isShort = false }: { readonly id: string; readonly isShort?: boolean }) {
  return (
    <a href={linkTo(['requests', id])} title={id}>
      <code>{isShort ? `…${id.slice(-SHORT)}` : id}</code>
    </a>
  )
}

export const REQUEST_COLUMNS: readonly Column<RequestLine>[] = [
  cell('When', (line) => <Moment at={line.started_at} isBrief />),
  cell('Status', (line) => <Status of={line} />),
  cell('Model', (line) => <Model of={line} />, 'fill'),
  number('Tokens in / out', (line) =>
    line.total_tokens > 0 ? `${counted(line.prompt_tokens)} / ${counted(line.completion_tokens)}` : '',
  ),
  credits('Charged', (line) => line.cost),
  number('First token', (line) => <Took ms={line.ttft_ms} />),
  number('Duration', (line) => <Took ms={line.duration_ms} />),
  cell('Key', (line) => <KeyLink id={line.key_id} name={line.key_name} />, 'short'),
  name('Request', (line) => <RequestLink id={line.request_id} isShort />),
]

function Model({ of: { model, endpoint, provider } }: { readonly of: RequestLine }) {
  return (
    <>
      {model ?? <span class="quiet">{endpoint}</span>}
      {provider && <span class="quiet"> by {provider}</span>}
    </>
  )
}
