import { type PageUrl, withQuery } from '../router.ts'

/** The filters that the address of a page has; a new value is another address. */
export function filtersIn<Name extends string>(url: PageUrl, names: readonly Name[]) {
  const query = Object.fromEntries(names.map((name) => [name, url.query.get(name) ?? ''])) as Record<Name, string>
  const filter = (name: Name) => ({
    value: query[name],
    onChange: (value: string) => location.replace(withQuery(url, { [name]: value })),
  })
  return { query, filter }
}
