import type { NoticeShape } from '../../layers/admin/api/shapes/books.ts'
import { Empty, Page } from '../parts/page.tsx'
import { type Column, cell, count, Rows } from '../parts/table.tsx'
import { useList } from '../parts/use-load.ts'
import { Badge, Moment, NameLink } from '../parts/values.tsx'

const COLUMNS: readonly Column<NoticeShape>[] = [
  cell('When', (notice) => <Moment at={notice.last_at} isBrief />),
  cell('Notice', (notice) => notice.type),
  cell('Of', (notice) => <NameLink id={notice.owner_id} name={notice.owner_name} />, 'short'),
  cell('Status', (notice) => <Badge of={notice.status.replace('_', ' ')} />),
  cell('Delivered by', (notice) => notice.by),
  count('Tries', (notice) => notice.tries),
  cell('Why not', (notice) => notice.error, 'rest'),
]

export function Notices() {
  const notices = useList<NoticeShape>('/notices')
  return (
    <Page title="Notices">
      <p class="quiet">
        The sweep sends them to your webhook and your bus, and tries one that failed again every five minutes, for three
        days.
      </p>
      <Rows
        of={notices}
        caption="Notices, newest first"
        columns={COLUMNS}
        by="id"
        empty={<Empty command="notices">No notice was told in the last 30 days. They are also listed by</Empty>}
      />
    </Page>
  )
}
