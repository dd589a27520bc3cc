import { useCallback, useEffect, useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import { type ApiFailure, ask, failureFrom, isAbort } from '../api.ts'
import { type Query, queryText } from '../router.ts'
import { useLatest } from './use-load.ts'

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
export function useList<T>(path: string, query: Query = {}, isWhole = false): Listed<T> {
  const url = listUrl(path, { ...query, limit: String(isWhole ? LARGEST_PAGE : PAGE) })
  const [state, setState] = useState<State<T>>({ url, rows: [], after: null, isLoading: true })
  const { begin, stop } = useLatest()

  const load = useCallback(
    async (before: readonly T[], from: string | null) => {
      const signal = begin()
      let [rows, after] = [before, from]
      setState({ url, rows, after, isLoading: true })
      try {
        do {
          const page: List<T> = await ask(after === null ? url : `${url}&after=${encodeURIComponent(after)}`, {
            signal,
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
    return stop
  }, [load])

  const now = state.url === url ? state : { rows: [], after: null, isLoading: true, failure: undefined }
  return {
    ...now,
    hasMore: now.after !== null,
    failure: now.failure,
    more: () => void load(now.rows, now.after),
    reload: () => void load([], null),
  }
}
