import { useEffect } from 'preact/hooks'
import type { SearchShape } from '../../layers/admin/api/shapes/answers.ts'
import { Loading, Page } from '../parts/page.tsx'
import { type Column, cell, name, Table } from '../parts/table.tsx'
import { useLoad } from '../parts/use-load.ts'
import { Badge, NameLink } from '../parts/values.tsx'
import { linkTo, type PageUrl, placeOf } from '../router.ts'

export function Search({ url }: { readonly url: PageUrl }) {
  const text = url.query.get('q') ?? ''
  const found = useLoad<SearchShape>(`/search?${new URLSearchParams({ q: text })}`)
  const only = found.data && onlyOne(found.data)
  useEffect(() => {
    // Replaces the search in the history, so that going back leads to the page before it.
    if (only) location.replace(only)
  }, [only])
  return (
    <Page title={`Search: ${text}`}>
      <Loading of={found}>
        {({ accounts, keys }) => {
          const rows = [...accounts, ...keys]
          if (rows.length > 0) return <Table caption="Customers and keys found" columns={COLUMNS} rows={rows} by="id" />
          return (
            !only && (
              <p class="empty">
                Nothing has this id, name, reference or last four characters. A request is found by its whole id, which
                its answer has in <code>X-Request-Id</code>.
              </p>
            )
          )
        }}
      </Loading>
    </Page>
  )
}

function onlyOne({ accounts, keys, request_id }: SearchShape): string | undefined {
  if (request_id !== null) return linkTo(['requests', request_id])
  const [first, ...others] = [...accounts, ...keys]
  return first && others.length === 0 ? linkTo(placeOf(first.id)) : undefined
}

const COLUMNS: readonly Column<SearchShape['keys' | 'accounts'][number]>[] = [
  name('Name', (one) => <NameLink id={one.id} name={one.name} />),
  cell('What', (one) => (one.object === 'key' ? `key …${one.last_four}` : 'customer')),
  cell(
    'Customer',
    (one) => one.object === 'key' && one.account_id && <NameLink id={one.account_id} name={one.account_name} />,
  ),
  cell('State', (one) => <Badge of={one.status} />),
  cell('External id', (one) => one.external_id),
]
