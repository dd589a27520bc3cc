import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import { type ApiFailure, ask, failureFrom, isAbort } from '../api.ts'
import { type Query, queryText } from '../router.ts'

export type Listed<T> = {
  readonly rows: readonly T[]
  readonly isLoading: boolean
  readonly hasMore: boolean
  readonly failure: ApiFailure | undefined
  readonly more: () => void
  readonly reload: () => void
}

type State<T> = {
  readonly url: string
  readonly rows: readonly T[]
  readonly after: string | null
  readonly isLoading: boolean
  readonly failure?: ApiFailure
}

export const PAGE = 50
/** The most that the server gives at once. */
const LARGEST_PAGE = 100

export function listUrl(path: string, query: Query): string {
  return `${path}?${queryText(query)}`
}

/** A list as the server pages and filters it. `isWhole` reads it to its end, for views that need all rows. */
export function useList<T>(path: string, query: Query, isWhole = false): Listed<T> {
  const url = listUrl(path, { ...query, limit: String(isWhole ? LARGEST_PAGE : PAGE) })
  const [state, setState] = useState<State<T>>({ url, rows: [], after: null, isLoading: true })
  const running = useRef<AbortController | undefined>(undefined)

  const load = useCallback(
    async (before: readonly T[], from: string | null) => {
      running.current?.abort()
      const own = new AbortController()
      running.current = own
      let [rows, after] = [before, from]
      setState({ url, rows, after, isLoading: true })
      try {
        do {
          const page: List<T> = await ask(after === null ? url : `${url}&after=${encodeURIComponent(after)}`, {
            signal: own.signal,
          })
          rows = [...rows, ...page.data]
          after = page.has_more ? page.last_id : null
        } while (isWhole && after !== null)
        setState({ url, rows, after, isLoading: false })
      } catch (error) {
        if (!isAbort(error)) setState({ url, rows, after, isLoading: false, failure: failureFrom(error) })
      }
    },
    [url, isWhole],
  )

  useEffect(() => {
    void load([], null)
    return () => running.current?.abort()
  }, [load])

  const isOwn = state.url === url
  const rows = isOwn ? state.rows : []
  return {
    rows,
    isLoading: !isOwn || state.isLoading,
    hasMore: isOwn && state.after !== null,
    failure: isOwn ? state.failure : undefined,
    more: () => void load(rows, state.after),
    reload: () => void load([], null),
  }
}
