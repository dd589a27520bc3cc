import { Books } from './books.tsx'
import { Catalog } from './catalog.tsx'
import { Playground } from './playground.tsx'
import { Routes } from './routes.tsx'

export const PAGES = { catalog: Catalog, routes: Routes, playground: Playground, books: Books }
