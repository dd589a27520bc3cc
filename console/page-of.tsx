import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Page } from './parts/page.tsx'
import { linkTo, type PageUrl } from './router.ts'

type Props = { readonly url: PageUrl }
type Group = { readonly PAGES: Readonly<Record<string, ComponentType<Props>>> }

// A file for each page would repeat more than it saves.
const traffic = () => import('./pages/traffic.tsx')
const customers = () => import('./pages/customers.tsx')
const setup = () => import('./pages/setup.tsx')

/** The group of a page, by the first word of its path, and a slash if an id comes after it. */
const GROUPS = new Map<string, () => Promise<Group>>([
  ...['overview', 'requests', 'requests/', 'usage', 'changes', 'search'].map((page) => [page, traffic] as const),
  ...['accounts', 'accounts/', 'keys', 'keys/'].map((page) => [page, customers] as const),
  ...['catalog', 'routes', 'playground', 'books'].map((page) => [page, setup] as const),
])

/** Until a page is loaded, the one before stays. */
export function PageOf({ url }: Props) {
  const [known, setKnown] = useState<Group['PAGES']>({})
  const [name = 'overview', id] = url.path
  const place = id === undefined ? name : `${name}/`
  const load = GROUPS.get(place)
  const Show = load ? known[place] : NotFound
  const last = useRef(WAITING)
  useEffect(() => {
    if (Show) return
    load?.().then(
      ({ PAGES }) => setKnown((before) => ({ ...before, ...PAGES })),
      () => setKnown((before) => ({ ...before, [place]: NotLoaded })),
    )
  }, [place])
  if (Show) last.current = <Show key={id ?? name} url={url} />
  return last.current
}

const WAITING = (
  <main>
    <p>Loading…</p>
  </main>
)

function noPage(title: string, text: ComponentChildren) {
  return (
    <Page title={title}>
      <p>{text}</p>
    </Page>
  )
}

const NotFound = () => noPage('There is no such page', <a href={linkTo([])}>Go to the overview</a>)

const NotLoaded = () =>
  noPage('This page could not be loaded', ['Is the console still running? ', <a href="/">Load it again</a>])
