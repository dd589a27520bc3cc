import type { Shape } from '../../layers/admin/api/shapes/parts.ts'
import type { UsageRecord } from '../../layers/admin/api/shapes/usage-record.ts'
import { connect } from '../api.ts'

export type ApiKey = {
  readonly name: string
  readonly balance: string | null
  readonly account: { readonly name: string; readonly shows_statements: boolean } | null
  readonly held: string
  readonly top_up_url: string | null
  readonly spent: string
  readonly key: { readonly last_four: string }
}
export type Figures = { readonly requests: number; readonly total_tokens: number; readonly cost: string }
export type DaySum = Figures & { readonly day: string }
export type ModelSum = Figures & { readonly model: string | null }
export type Sums<Sum> = {
  readonly data: readonly Sum[]
  readonly total: Figures
  readonly left_out: readonly unknown[]
}
export type Request = Shape<typeof UsageRecord>
export type Models = {
  readonly data: readonly {
    readonly id: string
    readonly kind: string
    readonly context_length: number
    readonly pricing: { readonly prompt: string; readonly completion: string; readonly input_cache_read: string }
  }[]
}

const HEADS: Readonly<Record<number, string>> = {
  401: 'This key is unknown, or has ended.',
  403: 'This key is refused here.',
  429: 'Too many requests.',
}

/** Asks with the caller's key, which goes into this header and nowhere else. */
export function connectWith(secret: string): void {
  connect({
    base: '/v1',
    headers: () => ({ Authorization: `Bearer ${secret}` }),
    lost: 'No answer came. Try again.',
    wordsOf: (said, { status }) => [HEADS[status], said].filter(Boolean).join(' '),
  })
}
