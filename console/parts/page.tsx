import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { identity } from '../session.ts'
import { SearchBox } from './search-box.tsx'

type Props = { readonly title: string; readonly actions?: ComponentChildren; readonly children: ComponentChildren }

let isFirst = true

export const focusHeading = () => document.querySelector<HTMLElement>('h1')?.focus()

/** A page begins at its heading, which is read out and focused after a change of page. */
export function Page({ title, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Waybill`
  }, [title])
  useLayoutEffect(() => {
    if (!isFirst) focusHeading()
    isFirst = false
  }, [])
  return (
    <main id="main">
      <header class="row wrap title">
        <h1 tabIndex={-1}>{title}</h1>
        {identity.get() && <SearchBox />}
        {actions && <div class="row wrap">{actions}</div>}
      </header>
      {children}
    </main>
  )
}
