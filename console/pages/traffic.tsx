import type { ShowPage } from '../router.ts'
import { Changes } from './changes.tsx'
import { Overview } from './overview.tsx'
import { RequestPage } from './request.tsx'
import { Requests } from './requests.tsx'
import { Search } from './search.tsx'
import { Usage } from './usage.tsx'

export const PAGES: Readonly<Record<string, ShowPage>> = {
  overview: (url) => <Overview key="overview" url={url} />,
  requests: (url) => <Requests key="requests" url={url} />,
  'requests/': ({ path: [, id = ''] }) => <RequestPage key={id} id={id} />,
  usage: (url) => <Usage key="usage" url={url} />,
  changes: (url) => <Changes key="changes" url={url} />,
  search: (url) => <Search key="search" url={url} />,
}
