import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Page } from './parts/page.tsx'
import { linkTo, type PageUrl } from './router.ts'

export type ShowPage = (url: PageUrl) => VNode
type Group = { readonly PAGES: Readonly<Record<string, ShowPage>> }

// A file for each page would repeat more than it saves.
const traffic = () => import('./pages/traffic.tsx')
const customers = () => import('./pages/customers.tsx')
const setup = () => import('./pages/setup.tsx')

/** The group of a page, by the first word of its path, and a slash if an id comes after it. */
const GROUPS = new Map([
  ...['overview', 'requests', 'requests/', 'usage', 'changes', 'search'].map((page) => [page, traffic] as const),
  ...['keys', 'keys/'].map((page) => [page, customers] as const),
  ...['catalog', 'routes', 'playground', 'books'].map((page) => [page, setup] as const),
])

const loaded = new Map<() => Promise<Group>, Group>()

type Shown = { readonly url: PageUrl; readonly show: ShowPage }

/** Until a page is loaded, the one before stays. */
export function PageOf({ url }: { readonly url: PageUrl }) {
  const [lost, setLost] = useState('')
  const [, setLoaded] = useState('')
  const last = useRef<Shown>({ url, show: Waiting })
  const [name = 'overview', id] = url.path
  const place = id === undefined ? name : `${name}/`
  const load = GROUPS.get(place)
  const group = load && loaded.get(load)
  useEffect(() => {
    if (!load || group) return
    load().then(
      (now) => {
        loaded.set(load, now)
        setLoaded(place)
      },
      () => setLost(place),
    )
  }, [place])
  const show = load ? group?.PAGES[place] : NotFound
  if (show) last.current = { url, show }
  return lost === place ? NotLoaded() : last.current.show(last.current.url)
}

function Waiting(): VNode {
  return (
    <main>
      <p>Loading…</p>
    </main>
  )
}

function NotFound(): VNode {
  return (
    <Page key="none" title="There is no such page">
      <p>
        <a href={linkTo([])}>Go to the overview</a>
      </p>
    </Page>
  )
}

function NotLoaded(): VNode {
  return (
    <Page key="lost" title="This page could not be loaded">
      <p>
        Is the console still running? <a href="/">Load it again</a>
      </p>
    </Page>
  )
}
