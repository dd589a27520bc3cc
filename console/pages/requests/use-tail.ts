import { useCallback, useState } from 'preact/hooks'
import type { List } from '../../../layers/admin/api/shapes/answers.ts'
import type { RequestLine } from '../../../layers/admin/api/shapes/requests.ts'
import { type ApiFailure, ask, failureFrom } from '../../api.ts'
import { type Listed, listUrl, PAGE, usePoll } from '../../parts/use-load.ts'
import type { Query } from '../../router.ts'

const EVERY_MS = 2000

export type Tailed = Listed<RequestLine> & { readonly isNew: (line: RequestLine) => boolean }

type Newer = {
  readonly url: string
  readonly rows: readonly RequestLine[]
  readonly failure?: ApiFailure
}

/** The list with the requests that came after it was loaded, looked for every few seconds while `isLive`. */
export function useTail(list: Listed<RequestLine>, query: Query, isLive: boolean): Tailed {
  const url = listUrl('/requests', { ...query, limit: String(PAGE) })
  const [state, setNewer] = useState<Newer>({ url, rows: [] })
  const newer = state.url === url ? state : { url, rows: [] }
  const look = useCallback(async () => {
    try {
      const page = await ask<List<RequestLine>>(url)
      const known = new Set([...newer.rows, ...list.rows].map(({ request_id }) => request_id))
      const rows = page.data.filter(({ request_id }) => !known.has(request_id))
      // More came than one page has: what is between them and the list is not known.
      if (rows.length === page.data.length && page.has_more) {
        setNewer({ url, rows: [] })
        list.reload()
      } else setNewer({ url, rows: [...rows, ...newer.rows] })
    } catch (error) {
      setNewer({ ...newer, failure: failureFrom(error) })
    }
  }, [url, newer.rows, list.rows])
  usePoll(look, isLive && !list.isLoading ? EVERY_MS : undefined)

  const ids = new Set(newer.rows.map(({ request_id }) => request_id))
  return {
    ...list,
    rows:
      newer.rows.length > 0
        ? [...newer.rows, ...list.rows.filter(({ request_id }) => !ids.has(request_id))]
        : list.rows,
    failure: list.failure ?? newer.failure,
    reload: () => {
      setNewer({ url, rows: [] })
      list.reload()
    },
    isNew: ({ request_id }) => ids.has(request_id),
  }
}
