import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'
import { Problem } from './problem.tsx'
import { type Shown, Table } from './table.tsx'
import type { Listed } from './use-list.ts'

type Props<T> = Shown<T> & { readonly of: Listed<T>; readonly empty: ComponentChildren }

/** The table of a list, with the button for its next page. */
export function Rows<T>({ of, empty, ...shown }: Props<T>) {
  const isEmpty = of.rows.length === 0
  return (
    <>
      {isEmpty && !of.isLoading && !of.failure && (
        <div class="empty">{of.hasMore ? <p>Nothing among the newest. There is more to look through.</p> : empty}</div>
      )}
      {!isEmpty && <Table {...shown} rows={of.rows} />}
      <Problem failure={of.failure} again={isEmpty ? of.reload : of.more} />
      {of.isLoading && <p class="quiet">Loading…</p>}
      {of.hasMore && !of.isLoading && <Button onClick={of.more}>Load more</Button>}
    </>
  )
}
