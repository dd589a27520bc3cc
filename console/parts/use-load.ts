import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiFailure, ask, failureFrom, isAbort } from '../api.ts'

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

/** The server's answer under this path; reloaded every few seconds while the page is visible, if `everyMs` is given. */
export function useLoad<T>(path: string | null, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<State<T>>({ path })
  const running = useRef<AbortController | undefined>(undefined)

  const reload = useCallback(async () => {
    if (path === null) return
    running.current?.abort()
    const own = new AbortController()
    running.current = own
    try {
      const data = await ask<T>(path, { signal: own.signal })
      if (!own.signal.aborted) setState({ path, data })
    } catch (error) {
      if (!isAbort(error))
        setState((old) => ({ path, data: old.path === path ? old.data : undefined, failure: failureFrom(error) }))
    }
  }, [path])

  // An answer that is still on its way is older than the change, and must not be shown after it.
  const set = useCallback(
    (data: T) => {
      running.current?.abort()
      setState({ path, data })
    },
    [path],
  )

  useEffect(() => {
    void reload()
    return () => running.current?.abort()
  }, [reload])
  usePoll(reload, everyMs)

  const isOwn = state.path === path
  return { data: isOwn ? state.data : undefined, failure: isOwn ? state.failure : undefined, reload, set }
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
