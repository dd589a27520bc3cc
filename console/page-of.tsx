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
import { linkTo, type Place } from './router.ts'

type ShowPage = (place: Place) => VNode

/** By the first word of the path; with an id after it, the page of that one. */
const PAGES: Readonly<Record<string, ShowPage>> = {
  overview: () => <Overview key="overview" />,
  keys: (place) => <Keys key="keys" place={place} />,
  requests: (place) => <Requests key="requests" place={place} />,
  playground: () => <Playground key="playground" />,
  usage: (place) => <Usage key="usage" place={place} />,
  books: () => <Books key="books" />,
  catalog: () => <Catalog key="catalog" />,
  routes: () => <Routes key="routes" />,
  changes: (place) => <Changes key="changes" place={place} />,
  search: (place) => <Search key="search" place={place} />,
}

const PAGES_OF_ONE: Readonly<Record<string, (id: string) => VNode>> = {
  keys: (id) => <KeyPage key={id} id={id} />,
  requests: (id) => <RequestPage key={id} id={id} />,
}

export function pageOf(place: Place): VNode {
  const [name = 'overview', id] = place.path
  // A word that every object knows, such as `constructor`, is no page.
  if (!Object.hasOwn(id === undefined ? PAGES : PAGES_OF_ONE, name)) return <NotFound key="none" />
  return (id === undefined ? PAGES[name]?.(place) : PAGES_OF_ONE[name]?.(id)) ?? <NotFound key="none" />
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
