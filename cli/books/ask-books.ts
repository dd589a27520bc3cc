import type { List } from '../../layers/admin/api/shapes/answers.ts'

type Query = Readonly<Record<string, string | number | undefined>>

/** How a terminal or a browser asks the admin API. Undefined parameters are left out; a refusal is thrown with its `code`. */
export type AskBooks = {
  readonly admin: {
    get<T>(path: string, query?: Query): Promise<T>
    list<T>(path: string, query?: Query): Promise<Pick<List<T>, 'data'>>
    text(path: string, query: Query, accept: string): Promise<AsyncIterable<string>>
  }
  readonly progress: { say(text: string): void }
  readonly nowMs: number
}

export function pathOf(id: string): string {
  return `/${id.startsWith('acct_') ? 'accounts' : 'keys'}/${encodeURIComponent(id)}`
}

/** A list to its end, page by page, or as much of it as is wanted. */
export async function listed<T>(get: AskBooks['admin']['get'], path: string, query: Query = {}, most = Infinity) {
  const data: T[] = []
  for (let { after } = query; ; ) {
    const page = await get<List<T>>(path, { ...query, limit: Math.min(100, most - data.length), after })
    data.push(...page.data)
    if (!page.has_more || page.last_id === null || data.length >= most) return { ...page, data }
    after = page.last_id
  }
}

export async function* jsonLines<T>(pieces: AsyncIterable<string>): AsyncGenerator<T, void, undefined> {
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as T
  }
}
