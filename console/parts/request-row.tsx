import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { Badge } from './badge.tsx'
import { Credits } from './credits.tsx'
import { KeyLink, RequestLink } from './links.tsx'
import { Moment } from './moment.tsx'

export const REQUEST_HEAD = (
  <>
    <th scope="col">Request</th>
    <th scope="col">Started</th>
    <th scope="col">Outcome</th>
    <th scope="col">Model</th>
    <th scope="col" class="number">
      Tokens
    </th>
    <th scope="col" class="number">
      Cost
    </th>
    <th scope="col" class="number">
      Took, ms
    </th>
    <th scope="col">Key</th>
  </>
)

export function RequestRow({ of: line }: { readonly of: RequestLine }) {
  return (
    <tr>
      <th scope="row">
        <RequestLink id={line.request_id} />
      </th>
      <td>
        <Moment at={line.started_at} />
      </td>
      <td>
        <Badge of={line.outcome} /> {line.http_status > 0 && line.http_status} {line.error_code}
      </td>
      <td>
        {line.model ?? line.endpoint}
        {line.provider && <span class="quiet"> by {line.provider}</span>}
      </td>
      <td class="number">{line.total_tokens.toLocaleString('en-US')}</td>
      <td class="number">
        <Credits of={line.cost} />
      </td>
      <td class="number">{line.duration_ms.toLocaleString('en-US')}</td>
      <td>
        <KeyLink id={line.key_id} name={line.key_name} />
      </td>
    </tr>
  )
}
