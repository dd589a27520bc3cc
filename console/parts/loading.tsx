import type { ComponentChildren } from 'preact'
import { Problem } from './problem.tsx'
import type { Loaded } from './use-load.ts'

type Props<T> = { readonly of: Loaded<T>; readonly children: (data: T) => ComponentChildren }

/** The last known data is shown, also when reloading failed. */
export function Loading<T>({ of, children }: Props<T>) {
  return (
    <>
      <Problem failure={of.failure} again={() => void of.reload()} />
      {of.data === undefined ? !of.failure && <p class="quiet">Loading…</p> : children(of.data)}
    </>
  )
}
