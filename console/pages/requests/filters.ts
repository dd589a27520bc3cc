import type { z } from 'zod'
import type { requestsQuery } from '../../../layers/admin/api/shapes/queries.ts'
import type { Overview, UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { AMOUNT_PATTERN, counted } from '../../parts/numbers.ts'
import type { Choice } from '../../parts/picker.tsx'
import { type Query, queryText } from '../../router.ts'
import { MODEL_ENDPOINTS, OTHER_ENDPOINTS } from './endpoints.ts'

/** Only what the server filters by: a filter of the rows that happen to be loaded would mislead. */
export type FilterName = Exclude<
  keyof z.input<typeof requestsQuery>,
  'from' | 'to' | 'limit' | 'after' | 'outcome' | 'for_model'
>

export type FilterQuery = Readonly<Record<FilterName, string>>

/** A filter with a value of its own, which is chosen or typed. */
export type ChoiceFilter = {
  readonly name: FilterName
  readonly label: string
  /** Asked when somebody opens the picker. */
  readonly source?: Source
  readonly choices?: readonly Choice[]
  readonly typed?: RegExp
}

export type Source = {
  readonly path: (range: Query) => string
  readonly of: (answer: unknown) => readonly Choice[]
}

/** A filter from a least to a most. */
export type BoundFilter = {
  readonly label: string
  readonly unit: string
  readonly from: FilterName
  readonly to: FilterName
  readonly pattern: string
}

const ANY = /./

export const CHOICE_FILTERS: readonly ChoiceFilter[] = [
  { name: 'model', label: 'Model', source: groups('model'), typed: ANY },
  { name: 'provider', label: 'Provider', source: groups('provider'), typed: ANY },
  {
    name: 'status',
    label: 'Status',
    choices: [
      { value: 'error', text: 'Errors', note: 'all not answered' },
      { value: '2xx', text: '2xx', note: 'answered' },
      { value: '4xx', text: '4xx', note: 'refused' },
      { value: '5xx', text: '5xx', note: 'failed' },
      { value: '429', text: '429', note: 'too many' },
      { value: '402', text: '402', note: 'no credits' },
    ],
    typed: /^([1-5]xx|[1-5]\d\d)$/,
  },
  {
    name: 'error_code',
    label: 'Error code',
    source: {
      path: () => '/overview',
      of: (answer) =>
        (answer as Overview).errors.map(({ code, requests }) => ({
          value: code,
          text: code,
          note: counted(requests),
        })),
    },
    typed: ANY,
  },
  { name: 'user', label: 'User', typed: ANY },
  { name: 'tag', label: 'Tag', typed: ANY },
  {
    name: 'endpoint',
    label: 'Endpoint',
    choices: [...MODEL_ENDPOINTS, ...OTHER_ENDPOINTS].map((value) => ({ value, text: value })),
  },
  {
    name: 'stream',
    label: 'Stream',
    choices: [
      { value: 'true', text: 'streamed' },
      { value: 'false', text: 'not streamed' },
    ],
  },
]

export const BOUND_FILTERS: readonly BoundFilter[] = [
  { label: 'Charged', unit: 'credits', from: 'cost_from', to: 'cost_to', pattern: AMOUNT_PATTERN },
  { label: 'Duration', unit: 'ms', from: 'duration_from', to: 'duration_to', pattern: '[0-9]{1,9}' },
]

export const FILTERS: readonly FilterName[] = [
  'key_id',
  ...CHOICE_FILTERS.map(({ name }) => name),
  ...BOUND_FILTERS.flatMap(({ from, to }) => [from, to]),
]

/** The models or providers that were used in the range, with their requests. */
function groups(by: 'model' | 'provider'): Source {
  return {
    path: (range) => `/usage?${queryText({ bucket: '1d', group_by: by, ...range })}`,
    of: (answer) =>
      (answer as UsagePage).groups
        .filter(({ group }) => group !== '-')
        .map(({ group, requests }) => ({ value: group, text: group, note: counted(requests) })),
  }
}

/** Sums are by model or by provider, and of a key; the other filters they cannot follow. */
export function sumsOf(query: FilterQuery) {
  const by = query.provider && !query.model ? 'provider' : 'model'
  const ignored = CHOICE_FILTERS.filter(({ name }) => name !== by && query[name]).map(({ label }) => label)
  const bounds = BOUND_FILTERS.filter(({ from, to }) => query[from] || query[to]).map(({ label }) => label)
  return { by, group: query[by], ignored: [...ignored, ...bounds].map((label) => label.toLowerCase()) } as const
}
