import type { z } from 'zod'
import type { requestsQuery } from '../../../layers/admin/api/shapes/queries.ts'
import type { Overview, UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { ENDPOINT_NAMES } from '../../../layers/gateway/endpoints.ts'
import { NameChips, RangePicker, Views } from '../../parts/filters.tsx'
import { counted } from '../../parts/numbers.ts'
import { type Choice, Choices, Picker, Span } from '../../parts/picker.tsx'
import { type Range, rangeQuery } from '../../parts/ranges.ts'
import { useLoad } from '../../parts/use-load.ts'
import { goWith, linkTo, type PageUrl, type Query, queryText } from '../../router.ts'

/** Only what the server filters by: a filter of the rows that happen to be loaded would mislead. */
type FilterName = Exclude<keyof z.input<typeof requestsQuery>, 'from' | 'to' | 'limit' | 'after' | 'outcome' | 'calls'>

type FilterQuery = Readonly<Record<FilterName, string>>

type Answer = Pick<UsagePage, 'groups'> & Pick<Overview, 'errors'>

type ChoiceFilter = {
  readonly name: FilterName
  readonly label: string
  readonly choices?: readonly Choice[]
  /** The path under which somebody who opens the picker finds the choices, and those in its answer. */
  readonly asked?: (range: Query) => string
  readonly found?: (answer: Answer) => readonly Choice[]
  readonly typed?: RegExp
}

const choice = (value: string, note?: string | number, text = value): Choice => ({
  value,
  text,
  note: typeof note === 'number' ? counted(note) : note,
})

const used = (by: 'model' | 'provider') => ({
  asked: (range: Query) => `/usage?${queryText({ bucket: '1d', group_by: by, ...range })}`,
  found: ({ groups }: Answer) =>
    groups.filter(({ group }) => group !== '-').map(({ group, requests }) => choice(group, requests)),
})

const ANY = /./

const CHOICE_FILTERS: readonly ChoiceFilter[] = [
  { name: 'model', label: 'Model', ...used('model'), typed: ANY },
  { name: 'provider', label: 'Provider', ...used('provider'), typed: ANY },
  {
    name: 'status',
    label: 'Status',
    choices: [
      choice('error', 'all not answered', 'Errors'),
      choice('2xx', 'also broken streams'),
      choice('4xx'),
      choice('5xx'),
      choice('429', 'too many'),
      choice('402', 'no credits'),
    ],
    typed: /^([1-5]xx|[1-5]\d\d)$/,
  },
  {
    name: 'error_code',
    label: 'Error code',
    asked: () => '/overview',
    found: ({ errors }) => errors.map(({ code }) => choice(code)),
    typed: ANY,
  },
  { name: 'user', label: 'User', typed: ANY },
  { name: 'tag', label: 'Tag', typed: ANY },
  { name: 'endpoint', label: 'Endpoint', choices: ENDPOINT_NAMES.map((name) => choice(name)) },
  {
    name: 'stream',
    label: 'Stream',
    choices: [choice('true', undefined, 'streamed'), choice('false', undefined, 'not streamed')],
  },
]

const BOUND_FILTERS = [
  { label: 'Charged', unit: 'credits', from: 'cost_from', to: 'cost_to', number: 'credits' },
  { label: 'Duration', unit: 'ms', from: 'duration_from', to: 'duration_to', number: 'count' },
] as const satisfies readonly ({ from: FilterName; to: FilterName } & Query)[]

export const FILTERS: readonly FilterName[] = [
  'account',
  'key_id',
  ...CHOICE_FILTERS.map(({ name }) => name),
  ...BOUND_FILTERS.flatMap(({ from, to }) => [from, to]),
]

/** Sums are by model or by provider, and of a key or a customer; the other filters they cannot follow. */
export function sumsOf(query: FilterQuery) {
  const by = query.provider && !query.model ? 'provider' : 'model'
  const ignored = CHOICE_FILTERS.filter(({ name }) => name !== by && query[name]).map(({ label }) => label)
  const bounds = BOUND_FILTERS.filter(({ from, to }) => query[from] || query[to]).map(({ label }) => label)
  return { by, group: query[by], ignored: [...ignored, ...bounds].map((label) => label.toLowerCase()) } as const
}

type Props = { readonly url: PageUrl; readonly range: Range; readonly query: FilterQuery }

export function Chips({ url, range, query }: Props) {
  const { from, to } = range
  return [
    <RangePicker url={url} range={range} />,
    <NameChips url={url} />,
    CHOICE_FILTERS.map((filter) => (
      <Picker<string>
        key={filter.name}
        label={filter.label}
        value={filter.choices?.find(({ value }) => value === query[filter.name])?.text ?? query[filter.name]}
        onChoose={(value) => goWith(url, { [filter.name]: value })}
      >
        {(choose) => (
          <Options
            filter={filter}
            range={{ from, to, account: query.account, key_id: query.key_id }}
            onChoose={choose}
          />
        )}
      </Picker>
    )),
    BOUND_FILTERS.map(({ label, from: least, to: most, ...shape }) => (
      <Picker<readonly [string, string]>
        key={label}
        label={label}
        value={boundsText(query[least], query[most], shape.unit)}
        onChoose={(span) => goWith(url, { [least]: span?.[0], [most]: span?.[1] })}
      >
        {(chosen) => <Span {...shape} from={query[least]} to={query[most]} onChoose={chosen} />}
      </Picker>
    )),
    Object.values(query).some(Boolean) && <a href={linkTo(url.path, rangeQuery(range))}>Clear</a>,
    <Views url={url} />,
  ]
}

type OptionsProps = { readonly filter: ChoiceFilter; readonly range: Query; readonly onChoose: (value: string) => void }

function Options({ filter: { label, asked, found, choices, typed }, range, onChoose }: OptionsProps) {
  const { data, failure } = useLoad<Answer>(asked?.(range) ?? null)
  return (
    <Choices
      label={label.toLowerCase()}
      choices={choices ?? (data && found?.(data)) ?? []}
      typed={typed}
      isLoading={asked !== undefined && !data && !failure}
      onChoose={onChoose}
    />
  )
}

function boundsText(from: string, to: string, unit: string): string {
  if (from && to) return `${from} – ${to} ${unit}`
  if (from) return `≥ ${from} ${unit}`
  return to && `≤ ${to} ${unit}`
}
