import type { HoldShape } from '../../../layers/admin/api/shapes/keys.ts'
import { Badge } from '../../parts/badge.tsx'
import { RequestLink } from '../../parts/links.tsx'
import { Moment } from '../../parts/moment.tsx'
import { type Column, cell, credits, name, Table } from '../../parts/table.tsx'

const COLUMNS: readonly Column<HoldShape>[] = [
  name('Request', (hold) => <RequestLink id={hold.request_id} />),
  credits('Held', (hold) => hold.amount),
  cell('Until', (hold) => <Moment at={hold.until} />),
  cell('State', (hold) => (hold.expired ? 'dead: the sweep gives it back' : <Badge of="open" />)),
]

export function OpenHolds({ of: holds }: { readonly of: readonly HoldShape[] }) {
  if (holds.length === 0) return null
  return (
    <section class="panel apart">
      <h2>Open holds</h2>
      <Table caption="Open holds" columns={COLUMNS} rows={holds} keyOf={(hold) => hold.request_id} />
    </section>
  )
}
