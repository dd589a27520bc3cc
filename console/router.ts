import { useEffect, useState } from 'preact/hooks'

/** Where the page is: `#/keys/key_1?status=active`. In the fragment, so that no server or log is told. */
export type Place = { readonly path: readonly string[]; readonly query: URLSearchParams }

export type Query = Readonly<Record<string, string | null | undefined>>

export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?')
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) }
}

/** Somebody may have typed it: what is not encoded is taken as it is. */
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

/** Without what is empty. */
export function queryText(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return new URLSearchParams(given).toString()
}

export function go(path: readonly string[], query: Query = {}): void {
  location.hash = linkTo(path, query)
}

/** The same page with other filters; null takes one away. */
export function withQuery({ path, query }: Place, changes: Query): string {
  return linkTo(path, { ...Object.fromEntries(query), ...changes })
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const moved = () => setHash(location.hash)
    addEventListener('hashchange', moved)
    return () => removeEventListener('hashchange', moved)
  }, [])
  return placeOf(hash)
}
