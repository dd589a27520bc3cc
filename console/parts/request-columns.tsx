import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { Badge } from './badge.tsx'
import { KeyLink, RequestLink } from './links.tsx'
import { Moment } from './moment.tsx'
import { type Column, cell, count, credits, name } from './table.tsx'

export const REQUEST_COLUMNS: readonly Column<RequestLine>[] = [
  name('Request', (line) => <RequestLink id={line.request_id} />),
  cell('Started', (line) => <Moment at={line.started_at} />),
  cell('Outcome', (line) => (
    <>
      <Badge of={line.outcome} /> {line.http_status > 0 && line.http_status} {line.error_code}
    </>
  )),
  cell('Model', (line) => (
    <>
      {line.model ?? line.endpoint}
      {line.provider && <span class="quiet"> by {line.provider}</span>}
    </>
  )),
  count('Tokens', (line) => line.total_tokens),
  credits('Cost', (line) => line.cost),
  count('Took, ms', (line) => line.duration_ms),
  cell('Key', (line) => <KeyLink id={line.key_id} name={line.key_name} />),
]
