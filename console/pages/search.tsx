import { useEffect } from 'preact/hooks'
import type { SearchShape } from '../../layers/admin/api/shapes/answers.ts'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { type Column, cell, name, Table } from '../parts/table.tsx'
import { useLoad } from '../parts/use-load.ts'
import { Badge, KeyLink, RequestLink } from '../parts/values.tsx'
import { linkTo, type PageUrl } from '../router.ts'

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
      <Loading of={found}>{(data) => <Found found={data} />}</Loading>
    </Page>
  )
}

function onlyOne({ keys, request_id }: SearchShape): string | undefined {
  const [key] = keys
  if (request_id !== null && !key) return linkTo(['requests', request_id])
  return key && keys.length === 1 && request_id === null ? linkTo(['keys', key.id]) : undefined
}

const COLUMNS: readonly Column<SearchShape['keys'][number]>[] = [
  name('Name', (key) => <KeyLink id={key.id} name={key.name} />),
  cell('Ends in', (key) => <code>…{key.last_four}</code>),
  cell('State', (key) => <Badge of={key.status} />),
  cell('External id', (key) => key.external_id),
]

function Found({ found: { keys, request_id } }: { readonly found: SearchShape }) {
  if (keys.length === 0 && request_id === null) {
    return (
      <p class="empty">
        Nothing has this id, name, reference or last four characters. A request is found by its whole id, which its
        answer has in <code>X-Request-Id</code>.
      </p>
    )
  }
  return (
    <>
      {request_id !== null && (
        <p>
          Request <RequestLink id={request_id} />
        </p>
      )}
      {keys.length > 0 && <Table caption="Keys found" columns={COLUMNS} rows={keys} by="id" />}
    </>
  )
}
