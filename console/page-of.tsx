import type { VNode } from 'preact'
import { Books } from './pages/books.tsx'
import { Catalog } from './pages/catalog.tsx'
import { Changes } from './pages/changes.tsx'
import { KeyPage } from './pages/key.tsx'
import { Keys } from './pages/keys.tsx'
import { Overview } from './pages/overview.tsx'
import { Playground } from './pages/playground.tsx'
import { RequestPage } from './pages/request.tsx'
import { Requests } from './pages/requests.tsx'
import { Routes } from './pages/routes.tsx'
import { Search } from './pages/search.tsx'
import { Usage } from './pages/usage.tsx'
import { Page } from './parts/page.tsx'
import { linkTo, type PageUrl } from './router.ts'

type ShowPage = (url: PageUrl) => VNode

/** By the first word of the path; with an id after it, the page of one item. */
const PAGES: Readonly<Record<string, ShowPage>> = {
  overview: (url) => <Overview key="overview" url={url} />,
  keys: (url) => <Keys key="keys" url={url} />,
  requests: (url) => <Requests key="requests" url={url} />,
  playground: () => <Playground key="playground" />,
  usage: (url) => <Usage key="usage" url={url} />,
  books: (url) => <Books key="books" url={url} />,
  catalog: (url) => <Catalog key="catalog" url={url} />,
  routes: () => <Routes key="routes" />,
  changes: (url) => <Changes key="changes" url={url} />,
  search: (url) => <Search key="search" url={url} />,
}

const PAGES_OF_ONE: Readonly<Record<string, (id: string) => VNode>> = {
  keys: (id) => <KeyPage key={id} id={id} />,
  requests: (id) => <RequestPage key={id} id={id} />,
}

export function pageOf(url: PageUrl): VNode {
  const [name = 'overview', id] = url.path
  // A property that every object has, such as `constructor`, is no page.
  if (!Object.hasOwn(id === undefined ? PAGES : PAGES_OF_ONE, name)) return <NotFound key="none" />
  return (id === undefined ? PAGES[name]?.(url) : PAGES_OF_ONE[name]?.(id)) ?? <NotFound key="none" />
}

function NotFound() {
  return (
    <Page title="There is no such page">
      <p>
        <a href={linkTo([])}>Go to the overview</a>
      </p>
    </Page>
  )
}
