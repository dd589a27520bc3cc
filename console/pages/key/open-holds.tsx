import type { HoldShape } from '../../../layers/admin/api/shapes/keys.ts'
import { Badge } from '../../parts/badge.tsx'
import { Credits } from '../../parts/credits.tsx'
import { RequestLink } from '../../parts/links.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Table } from '../../parts/table.tsx'

export function OpenHolds({ of: holds }: { readonly of: readonly HoldShape[] }) {
  if (holds.length === 0) return null
  return (
    <>
      <h2>Open holds</h2>
      <Table
        caption="Open holds"
        head={
          <>
            <th scope="col">Request</th>
            <th scope="col" class="number">
              Held
            </th>
            <th scope="col">Until</th>
            <th scope="col">State</th>
          </>
        }
      >
        {holds.map((hold) => (
          <tr key={hold.request_id}>
            <th scope="row">
              <RequestLink id={hold.request_id} />
            </th>
            <td class="number">
              <Credits of={hold.amount} />
            </td>
            <td>
              <Moment at={hold.until} />
            </td>
            <td>{hold.expired ? 'dead: the sweep gives it back' : <Badge of="open" />}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}
