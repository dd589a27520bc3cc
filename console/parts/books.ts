import { type AskBooks, listed } from '../../cli/books/ask-books.ts'
import { plainValue } from '../../layers/gateway/domain/basics/plain-text.ts'
import { ask, askText } from '../api.ts'
import { type Query, queryText } from '../router.ts'
import { shared } from '../shared.ts'
import { useLoad } from './use-load.ts'

const progress = shared('')

function booksOf(signal: AbortSignal): AskBooks {
  const get = <T>(path: string, query: Query = {}) => ask<T>(`${path}?${queryText(query)}`, { signal })
  return {
    admin: {
      get,
      list: (path, query) => listed(get, path, query),
      text: (path, query, accept) => askText(`${path}?${queryText(query)}`, accept, signal),
    },
    progress: { say: progress.set },
    nowMs: Date.now(),
  }
}

/** Made in this window, as the command line makes it; rows and bills have texts of others. Meanwhile it tells how far it is. */
export function useMade<T>(name: string | null, make: (books: AskBooks) => Promise<T>) {
  const told = progress.use()
  const made = useLoad<T>(name, async (_, { signal } = {}) => {
    progress.set('')
    return plainValue(await make(booksOf(signal as AbortSignal))) as T
  })
  return { ...made, told: name !== null && !made.data && told }
}
