import { readJson } from '../read-json.ts'

/** The answers of the gateway, as far as this page shows them. */
export type ApiKey = {
  readonly name: string
  readonly balance: string
  readonly held: string
  readonly spent: string
  readonly key: { readonly last_four: string }
}
export type Figures = { readonly requests: number; readonly total_tokens: number; readonly cost: string }
export type Sums<Group> = {
  readonly data: readonly (Figures & Group)[]
  readonly total: Figures
  readonly left_out: readonly unknown[]
}
export type Request = {
  readonly request_id: string
  readonly started_at: string
  readonly contract: string | null
  readonly model: string | null
  readonly http_status: number
  readonly outcome: string
  readonly error_code: string | null
  readonly total_tokens: number
  readonly cost: string
}
export type List<Row> = { readonly data: readonly Row[]; readonly has_more?: boolean; readonly last_id?: string | null }
export type Model = {
  readonly id: string
  readonly kind: string
  readonly context_length: number
  readonly pricing: { readonly prompt: string; readonly completion: string; readonly input_cache_read: string }
}

type Refused = { readonly error: { readonly message?: string } }

/** No usable answer: refused by the gateway, or lost on the way (status 0). */
export class Failure extends Error {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

const HEADS: Readonly<Record<number, string>> = {
  0: 'No answer came. Check your connection, and try again.',
  401: 'The gateway does not know this key, or it has ended.',
  403: 'The gateway refuses this key here.',
}

/** Asks with the caller's key, which goes into this header and nowhere else. */
export async function ask<Answer>(secret: string, path: string): Promise<Answer> {
  const headers = { Authorization: `Bearer ${secret}` }
  const response = await fetch(`/v1/${path}`, { headers, cache: 'no-store', credentials: 'omit' }).catch(
    () => undefined,
  )
  if (!response) throw new Failure(wordsOf(0), 0)
  const body = await readJson<Answer & Partial<Refused>>(response).catch(() => undefined)
  if (response.ok && body) return body
  const wait = response.headers.get('Retry-After')
  const said = body?.error?.message ?? `The gateway answered ${response.status}.`
  throw new Failure(wordsOf(response.status, said, wait), response.status)
}

function wordsOf(status: number, said = '', wait: string | null = null): string {
  if (status === 429) return `This key has made too many requests.${wait ? ` Try again in ${wait} s.` : ''} ${said}`
  return [HEADS[status], said].filter(Boolean).join(' ')
}
