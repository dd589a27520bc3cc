import { useEffect, useState } from 'preact/hooks'

/** The address of a page: `#/keys/key_1?status=active`. In the fragment, so that no server or log is told. */
export type PageUrl = { readonly path: readonly string[]; readonly query: URLSearchParams }

export type Query = Readonly<Record<string, string | number | null | undefined>>

export function pageUrlOf(hash: string): PageUrl {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?')
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) }
}

/** The address may have been typed: a part that is not encoded is taken literally. */
function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word
  }
}

export function linkTo(path: readonly string[], query: Query = {}): string {
  const text = queryText(query)
  return `#/${path.map(encodeURIComponent).join('/')}${text && `?${text}`}`
}

const isAccountId = (id: string) => id.startsWith('acct_')

/** A key or a customer by its id: the path of its page, and of its resource in the admin API. */
export function placeOf(id: string): readonly [page: string, id: string] {
  return [isAccountId(id) ? 'accounts' : 'keys', id]
}

/** The filter of requests and of usage that leaves only its own. */
export function filterOf(id: string): Query {
  return isAccountId(id) ? { account: id } : { key_id: id }
}

export function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value)
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
}

export function go(path: readonly string[], query: Query = {}): void {
  location.hash = linkTo(path, query)
}

/** The same page with other filters; null removes one. */
export function withQuery({ path, query }: PageUrl, changes: Query): string {
  return linkTo(path, { ...Object.fromEntries(query), ...changes })
}

export function goWith(url: PageUrl, changes: Query): void {
  location.hash = withQuery(url, changes)
}

export function usePageUrl(): PageUrl {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const heard = () => setHash(location.hash)
    addEventListener('hashchange', heard)
    return () => removeEventListener('hashchange', heard)
  }, [])
  return pageUrlOf(hash)
}

export function filtersIn<Name extends string>(url: PageUrl, names: readonly Name[]) {
  const query = Object.fromEntries(names.map((name) => [name, url.query.get(name) ?? ''])) as Record<Name, string>
  const filter = (name: Name) => ({
    value: query[name],
    onChange: (value: string) => location.replace(withQuery(url, { [name]: value })),
  })
  return { query, filter }
}

/** Every page by its first word, with its icon on 16 by 16, in the groups in which they are shown. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    overview: 'M2 13V7m4 6V3m4 10V9m4 4V5',
    requests: 'M2 4h12M2 8h12M2 12h8',
    usage: 'M2 12l4-5 3 3 5-7',
  },
  Customers: {
    accounts: 'M11 5a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM2.5 14c.5-3 2.5-4.5 5.5-4.5s5 1.5 5.5 4.5',
    keys: 'M8 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0zm0 0h6m-2 0v3',
  },
  Service: {
    catalog: 'M2 4h12v8H2zM2 7h12',
    routes: 'M2 8h3l4-4h5M5 8l4 4h5M12 2l2 2-2 2m0 4l2 2-2 2',
    playground: 'M3 3l10 5-10 5z',
  },
  Billing: {
    invoices: 'M4 2h8v12l-2-1-2 1-2-1-2 1zM6 6h4M6 9h4',
    statements: 'M3 2h7l3 3v9H3zM6 8h4M6 11h4',
    reconcile: 'M8 2v12M3 5h10M3 5L1.5 9h3zM13 5l-1.5 4h3z',
  },
  Trust: {
    books: 'M3 8l3 4 7-8',
    changes: 'M8 4.5V8l2.5 1.5M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
    notices: 'M4 11V7a4 4 0 0 1 8 0v4l1 1H3zM7 14h2',
  },
}

export const PAGES = /* @__PURE__ */ Object.values(GROUPS).flatMap(Object.keys)

/** An account is a customer to people. */
export const pageTitle = (page: string) => titleOf(page.replace('accounts', 'customers'))

export const titleOf = (page: string) => page.charAt(0).toUpperCase() + page.slice(1)
