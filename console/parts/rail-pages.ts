import type { IconName } from './icon.tsx'

type Group = { readonly name?: string; readonly pages: readonly IconName[] }

/** Every page by its first word, in the groups in which they are shown. */
export const GROUPS: readonly Group[] = [
  { pages: ['overview', 'requests', 'usage'] },
  { name: 'Customers', pages: ['keys'] },
  { name: 'Service', pages: ['catalog', 'routes', 'playground'] },
  { name: 'Trust', pages: ['books', 'changes'] },
]

export const PAGES = GROUPS.flatMap(({ pages }) => pages)

export const titleOf = (page: string) => page.charAt(0).toUpperCase() + page.slice(1)
