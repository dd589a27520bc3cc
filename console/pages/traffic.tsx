import { Changes } from './changes.tsx'
import { Overview } from './overview.tsx'
import { RequestPage } from './request.tsx'
import { Requests } from './requests.tsx'
import { Search } from './search.tsx'
import { Usage } from './usage.tsx'

export const PAGES = {
  overview: Overview,
  requests: Requests,
  'requests/': RequestPage,
  usage: Usage,
  changes: Changes,
  search: Search,
}
