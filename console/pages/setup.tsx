import type { ShowPage } from '../router.ts'
import { Books } from './books.tsx'
import { Catalog } from './catalog.tsx'
import { Playground } from './playground.tsx'
import { Routes } from './routes.tsx'

export const PAGES: Readonly<Record<string, ShowPage>> = {
  catalog: (url) => <Catalog key="catalog" url={url} />,
  routes: () => <Routes key="routes" />,
  playground: () => <Playground key="playground" />,
  books: (url) => <Books key="books" url={url} />,
}
