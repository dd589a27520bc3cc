import { useState } from 'preact/hooks'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/command.tsx'
import { compareCredits } from '../parts/compare-credits.ts'
import { CreateKey } from '../parts/create-key.tsx'
import { Select } from '../parts/field.tsx'
import { FilterField, filtersIn } from '../parts/filter-field.tsx'
import { KeyLink } from '../parts/links.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Rows } from '../parts/rows.tsx'
import { type Column, cell, count, credits, name } from '../parts/table.tsx'
import { useList } from '../parts/use-list.ts'
import type { PageUrl } from '../router.ts'

type Sort = { readonly label: string; readonly compare: (a: KeyShape, b: KeyShape) => number }

const SORTS: Readonly<Record<string, Sort>> = {
  name: { label: 'Name', compare: (a, b) => a.name.localeCompare(b.name) },
  available: { label: 'Least available', compare: (a, b) => compareCredits(a.available, b.available) },
  spent: { label: 'Most spent', compare: (a, b) => compareCredits(b.spent, a.spent) },
  today: { label: 'Most requests today', compare: (a, b) => b.requests_today - a.requests_today },
  last_used: { label: 'Last used', compare: (a, b) => (b.last_used_at ?? '').localeCompare(a.last_used_at ?? '') },
}

const STATES: Readonly<Record<KeyShape['status'], string>> = {
  active: 'Active',
  suspended: 'Suspended',
  expired: 'Expired',
  revoked: 'Revoked',
}

const FILTERS = ['status', 'external_id', 'sort'] as const

export function Keys({ url }: { readonly url: PageUrl }) {
  const [isCreating, setCreating] = useState(false)
  const { query, filter } = filtersIn(url, FILTERS)
  const { status, external_id, sort } = query
  const order = Object.hasOwn(SORTS, sort) ? SORTS[sort] : undefined
  // Sorting the loaded rows alone would be misleading, so all rows are loaded first.
  const keys = useList<KeyShape>('/keys', { status, external_id }, order !== undefined)
  const rows = order ? keys.rows.toSorted(order.compare) : keys.rows
  return (
    <Page
      title="Keys"
      actions={
        <Button class="primary" onClick={() => setCreating(true)}>
          Create key
        </Button>
      }
    >
      <div class="filters">
        <Select label="State" {...filter('status')} options={[['', 'All'], ...Object.entries(STATES)]} />
        <FilterField label="External id, exactly" {...filter('external_id')} />
        <Select
          label="Order"
          {...filter('sort')}
          options={[['', 'Newest first'], ...Object.entries(SORTS).map(([name, { label }]) => [name, label] as const)]}
        />
      </div>
      <Rows
        of={order && keys.isLoading ? { ...keys, rows: [] } : { ...keys, rows }}
        caption="Keys"
        columns={COLUMNS}
        keyOf={(key) => key.id}
        empty={status || external_id ? <p>No key is like this.</p> : NO_KEYS}
      />
      {isCreating && (
        <CreateKey
          onClose={() => setCreating(false)}
          onDone={() => {
            setCreating(false)
            keys.reload()
          }}
        />
      )}
    </Page>
  )
}

const NO_KEYS = (
  <>
    <p>
      There are no keys yet. <strong>Create key</strong> makes one, and so does
    </p>
    <Command>keys create --name acme --credits 25</Command>
  </>
)

const COLUMNS: readonly Column<KeyShape>[] = [
  name('Name', (key) => <KeyLink id={key.id} name={key.name} />),
  cell('Ends in', (key) => <code>…{key.last_four}</code>),
  cell('State', (key) => (
    <>
      <Badge of={key.status} />{' '}
      {key.badges.map((badge) => (
        <Badge key={badge} of={badge} />
      ))}
    </>
  )),
  credits('Available', (key) => key.available),
  credits('Held', (key) => key.held),
  credits('Spent', (key) => key.spent),
  count('Today', (key) => key.requests_today),
  cell('Last used', (key) => <Moment at={key.last_used_at} isBrief />),
  cell('External id', (key) => key.external_id),
]
