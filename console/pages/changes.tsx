import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import { Command } from '../parts/command.tsx'
import { eventColumns } from '../parts/event-columns.tsx'
import { Select } from '../parts/field.tsx'
import { DAY_PATTERN, FilterField, filtersIn } from '../parts/filter-field.tsx'
import { Page } from '../parts/page.tsx'
import { Rows } from '../parts/rows.tsx'
import { useList } from '../parts/use-list.ts'
import type { PageUrl } from '../router.ts'

const FILTERS = ['what', 'key_id', 'by', 'from', 'to'] as const
const KINDS: Readonly<Record<EventShape['what'], true>> = {
  'key.created': true,
  'key.updated': true,
  'key.rotated': true,
  'key.grace_ended': true,
  'key.suspended': true,
  'key.resumed': true,
  'key.revoked': true,
  'key.granted': true,
  'admin_key.created': true,
  'admin_key.rotated': true,
  'admin_key.revoked': true,
  'catalog.pushed': true,
  'catalog.rolled_back': true,
}
const COLUMNS = eventColumns(true)

export function Changes({ url }: { readonly url: PageUrl }) {
  const { query, filter } = filtersIn(url, FILTERS)
  const events = useList<EventShape>('/events', query)
  return (
    <Page title="Changes">
      <div class="filters">
        <Select
          label="What"
          {...filter('what')}
          options={[['', 'Everything'], ...Object.keys(KINDS).map((kind) => [kind, kind] as const)]}
        />
        <FilterField label="Key id" {...filter('key_id')} />
        <FilterField label="By, exactly" {...filter('by')} />
        <FilterField label="From (UTC day)" pattern={DAY_PATTERN} {...filter('from')} />
        <FilterField label="To, not included" pattern={DAY_PATTERN} {...filter('to')} />
      </div>
      <Rows
        of={events}
        caption="Changes, newest first"
        columns={COLUMNS}
        keyOf={(event) => event.id}
        empty={
          <>
            <p>
              No change is like this. <strong>Create key</strong> on the page Keys makes one; the command line lists
              them with
            </p>
            <Command>events list</Command>
          </>
        }
      />
    </Page>
  )
}
