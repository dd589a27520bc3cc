import type { ComponentChildren } from 'preact'
import type { ApiFailure } from '../api.ts'
import { Button } from './controls.tsx'
import type { Loaded } from './use-load.ts'

type Props<T> = { readonly of: Omit<Loaded<T>, 'set'>; readonly children: (data: T) => ComponentChildren }

/** The last known data is shown, also when reloading failed. */
export function Loading<T>({ of, children }: Props<T>) {
  return (
    <>
      <Problem failure={of.failure} again={() => void of.reload()} />
      {of.data === undefined ? !of.failure && <p class="quiet">Loading…</p> : children(of.data)}
    </>
  )
}

export function Problem({ failure, again }: { readonly failure: ApiFailure | undefined; readonly again?: () => void }) {
  if (!failure) return null
  return (
    <div class="notice bad" role="alert">
      <p>
        {failure.param && <code>{failure.param}: </code>}
        {failure.message}
        {failure.requestId && (
          <>
            {' '}
            (<code>{failure.requestId}</code>)
          </>
        )}
      </p>
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  )
}
