import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import { type ApiFailure, ask, failureFrom, isAbort } from '../api.ts'
import { type Query, queryText } from '../router.ts'

export type Loaded<T> = {
  readonly data: T | undefined
  readonly failure: ApiFailure | undefined
  readonly reload: () => Promise<void>
  readonly set: (data: T) => void
}

type State<T> = { readonly path: string | null; readonly data?: T | undefined; readonly failure?: ApiFailure }

/** Several answers that make one thing have a name in place of a path. */
export function useLoad<T>(path: string | null, read = ask<T>): Loaded<T> {
  const [state, setState] = useState<State<T>>({ path })
  const { begin, stop } = useLatest()
  const reload = useCallback(async () => {
    if (path === null) return
    const signal = begin()
    try {
      const data = await read(path, { signal })
      if (!signal.aborted) setState({ path, data })
    } catch (error) {
      if (!isAbort(error)) setState((old) => ({ ...own(old, path), path, failure: failureFrom(error) }))
    }
  }, [path])
  useEffect(() => {
    void reload()
    return stop
  }, [reload])
  // An answer that is still on its way is older than the change, and must not be shown after it.
  const set = (data: T) => {
    stop()
    setState({ path, data })
  }
  return { data: undefined, failure: undefined, ...own(state, path), reload, set }
}

type Pace<T> = number | undefined | ((data: T | undefined) => number | undefined)

export function useLive<T>(path: string, everyMs: Pace<T>): Loaded<T> {
  const loaded = useLoad<T>(path)
  usePoll(loaded.reload, typeof everyMs === 'function' ? everyMs(loaded.data) : everyMs)
  return loaded
}

/** Nothing of another path is shown. */
function own<T extends { readonly path: string | null }>(state: T, path: string | null): T | undefined {
  return state.path === path ? state : undefined
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
function usePoll(reload: () => Promise<void>, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined) return
    const over = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const next = () => {
      clearTimeout(timer)
      if (!over.signal.aborted && !document.hidden) timer = setTimeout(look, everyMs)
    }
    const look = () => void reload().then(next)
    next()
    const seen = () => (document.hidden ? clearTimeout(timer) : look())
    document.addEventListener('visibilitychange', seen, { signal: over.signal })
    return () => {
      over.abort()
      clearTimeout(timer)
    }
  }, [reload, everyMs])
}

export function usePaused(typed: string, pauseMs: number): string {
  const [text, setText] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return text
}

/** The server has refused the content, so the next submission is another one. */
export function isRefused({ status }: ApiFailure): boolean {
  return [400, 409, 422].includes(status)
}

/** A change that is submitted. Its Idempotency-Key stays until it is refused, so that a second submission does it once. */
export function useSubmission() {
  const idempotencyKey = useRef<string | undefined>(undefined)
  idempotencyKey.current ??= crypto.randomUUID()
  const [isRunning, setRunning] = useState(false)
  const [failure, setFailure] = useState<ApiFailure | undefined>(undefined)

  const run = async (submit: () => Promise<void>): Promise<ApiFailure | undefined> => {
    if (isRunning) return undefined
    setRunning(true)
    try {
      await submit()
      setFailure(undefined)
      return undefined
    } catch (error) {
      const failed = failureFrom(error)
      if (isRefused(failed)) idempotencyKey.current = undefined
      setFailure(failed)
      return failed
    } finally {
      setRunning(false)
    }
  }
  return { isRunning, failure, idempotencyKey: idempotencyKey.current, run }
}

export type Listed<T> = ReturnType<typeof useList<T>>

type ListState<T> = {
  readonly path: string
  readonly rows: readonly T[]
  /** Those that came after it was loaded. */
  readonly newer: readonly T[]
  readonly after: string | null
  readonly isLoading: boolean
  readonly failure?: ApiFailure | undefined
}

const PAGE = 50

/** A list as the server pages and filters it; for views that need all rows it is read to its end, in pages of `ofWhole`. */
export function useList<T>(list: string, query: Query = {}, ofWhole = 0) {
  const path = `${list}?${queryText({ ...query, limit: ofWhole || PAGE })}`
  const fresh: ListState<T> = { path, rows: [], newer: [], after: null, isLoading: true }
  const [state, setState] = useState(fresh)
  const { begin, stop } = useLatest()
  const load = useCallback(
    async ({ failure: _, ...from }: ListState<T>) => {
      const signal = begin()
      let now = { ...from, path, isLoading: true }
      setState(now)
      try {
        do {
          const next = now.after === null ? '' : `&after=${encodeURIComponent(now.after)}`
          const page: List<T> = await ask(path + next, { signal })
          now = { ...now, rows: [...now.rows, ...page.data], after: page.has_more ? page.last_id : null }
        } while (ofWhole && now.after !== null)
        setState({ ...now, isLoading: false })
      } catch (error) {
        if (!isAbort(error)) setState({ ...now, isLoading: false, failure: failureFrom(error) })
      }
    },
    [path],
  )
  useEffect(() => {
    void load(fresh)
    return stop
  }, [load])
  const now = own(state, path) ?? fresh
  return {
    ...now,
    hasMore: now.after !== null,
    more: () => void load(now.after === null ? fresh : now),
    reload: (): void => void load(fresh),
    // It is dropped if there are other rows meanwhile.
    change: (changes: Partial<ListState<T>>) =>
      setState((old) => (old.path === path && old.rows === now.rows ? { ...old, ...changes } : old)),
  }
}

const TAIL_MS = 2000

/** A list with the rows that came after it was loaded, looked for every few seconds while `isLive`. */
export function useTail<T>(list: string, query: Query, by: keyof T, isLive: boolean) {
  const listed = useList<T>(list, query)
  const { path, rows, newer, isLoading, change, reload } = listed
  const look = useCallback(async () => {
    try {
      const page = await ask<List<T>>(path)
      const known = new Set(rows.map((row) => row[by]))
      const found = page.data.filter((row) => !known.has(row[by]))
      // More came than one page has: what is between them and the list is not known.
      if (found.length === page.data.length && page.has_more) reload()
      else change({ rows: [...found, ...rows], newer: [...found, ...newer], failure: undefined })
    } catch (error) {
      change({ failure: failureFrom(error) })
    }
  }, [path, rows])
  usePoll(look, isLive && !isLoading ? TAIL_MS : undefined)
  return listed
}

/** Told of an element when it is there, and whenever its size changes. */
export function useSize<Of extends HTMLElement>(frame: RefObject<Of>, onSize: (element: Of) => void): void {
  // Not useEffect, which comes after a first picture in the wrong width.
  useLayoutEffect(() => {
    const element = frame.current
    if (!element) return
    const observer = new ResizeObserver(() => onSize(element))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
}
