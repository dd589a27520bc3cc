import type { NoticeShape } from '../../layers/admin/api/shapes/books.ts'
import { Empty, Facts, Page } from '../parts/page.tsx'
import { type Column, cell, count, Rows } from '../parts/table.tsx'
import { useList } from '../parts/use-load.ts'
import { Badge, Moment, NameLink } from '../parts/values.tsx'

const COLUMNS: readonly Column<NoticeShape>[] = [
  cell('When', (notice) => <Moment at={notice.last_at} isBrief />),
  cell('Notice', (notice) => notice.type),
  cell('Of', (notice) => <NameLink id={notice.owner_id} name={notice.owner_name} />, 'short'),
  cell('Status', (notice) => <Badge of={notice.status.replace('_', ' ')} />),
  count('Tries', (notice) => notice.tries),
  cell('Error', (notice) => notice.error, 'rest'),
]

/** The deliveries tell how the receiver does. */
export function Notices() {
  const notices = useList<NoticeShape>('/notices')
  const told = notices.rows.find(({ status }) => status === 'told')
  const failed = notices.rows.find(({ error }) => error !== null)
  return (
    <Page title="Notices">
      <p class="quiet">
        The sweep posts them to your webhook, and tries one that failed again every five minutes, for three days.
      </p>
      <Facts
        of={[
          ['Last told', told && <Moment at={told.last_at} />],
          ['Last failed', failed && [<Moment at={failed.last_at} />, ` ${failed.error}`]],
        ]}
      />
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
