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
