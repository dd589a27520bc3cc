import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import { type ApiFailure, ask, failureFrom, isAbort } from '../api.ts'
import { type Query, queryText } from '../router.ts'

export type Loaded<T> = {
  readonly data: T | undefined
  readonly failure: ApiFailure | undefined
  readonly reload: () => Promise<void>
  /** Sets the server's answer to a change. */
  readonly set: (data: T) => void
}

type State<T> = {
  readonly path: string | null
  readonly data?: T | undefined
  readonly failure?: ApiFailure | undefined
}

/** The server's answer under this path. */
export function useLoad<T>(path: string | null): Loaded<T> {
  const [state, setState] = useState<State<T>>({ path })
  const { begin, stop } = useLatest()

  const reload = useCallback(async () => {
    if (path === null) return
    const signal = begin()
    try {
      const data = await ask<T>(path, { signal })
      if (!signal.aborted) setState({ path, data })
    } catch (error) {
      if (!isAbort(error))
        setState((old) => ({ path, data: old.path === path ? old.data : undefined, failure: failureFrom(error) }))
    }
  }, [path])

  // An answer that is still on its way is older than the change, and must not be shown after it.
  const set = useCallback(
    (data: T) => {
      stop()
      setState({ path, data })
    },
    [path],
  )

  useEffect(() => {
    void reload()
    return stop
  }, [reload])

  const isOwn = state.path === path
  return { data: isOwn ? state.data : undefined, failure: isOwn ? state.failure : undefined, reload, set }
}

/** Reloaded every few seconds while the page is visible. */
export function useLive<T>(path: string, everyMs: number | undefined): Loaded<T> {
  const loaded = useLoad<T>(path)
  usePoll(loaded.reload, everyMs)
  return loaded
}

/** One run at a time: the next one, or leaving the page, ends the one before. */
export function useLatest() {
  const running = useRef<AbortController | undefined>(undefined)
  const stop = useCallback(() => running.current?.abort(), [])
  const begin = useCallback(() => {
    stop()
    running.current = new AbortController()
    return running.current.signal
  }, [])
  useEffect(() => stop, [])
  return { begin, stop }
}

/** Paused while the page is hidden, and resumed at once when it is shown. */
export function usePoll(reload: () => Promise<void>, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let over = false
    const next = () => {
      clearTimeout(timer)
      if (!over && !document.hidden) timer = setTimeout(() => void reload().then(next), everyMs)
    }
    const seen = () => {
      if (document.hidden) clearTimeout(timer)
      else void reload().then(next)
    }
    next()
    document.addEventListener('visibilitychange', seen)
    return () => {
      over = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [reload, everyMs])
}

/** A text that somebody types, once they pause. */
export function usePaused(typed: string, pauseMs: number): string {
  const [text, setText] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return text
}

export type Listed<T> = {
  readonly rows: readonly T[]
  readonly isLoading: boolean
  readonly hasMore: boolean
  readonly failure: ApiFailure | undefined
  readonly more: () => void
  readonly reload: () => void
}

type ListState<T> = {
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
  const [state, setState] = useState<ListState<T>>({ url, rows: [], after: null, isLoading: true })
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
