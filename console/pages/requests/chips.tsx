import { KeyChip, RangePicker } from '../../parts/filters.tsx'
import { Choices, Picker, Span } from '../../parts/picker.tsx'
import { type Range, rangeQuery } from '../../parts/ranges.ts'
import { useLoad } from '../../parts/use-load.ts'
import { goWith, linkTo, type PageUrl, type Query } from '../../router.ts'
import { BOUND_FILTERS, CHOICE_FILTERS, type ChoiceFilter, type FilterQuery } from './filters.ts'

type Props = { readonly url: PageUrl; readonly range: Range; readonly query: FilterQuery }

export function Chips({ url, range, query }: Props) {
  const isFiltered = Object.values(query).some(Boolean)
  return (
    <>
      <RangePicker url={url} range={range} />
      <KeyChip url={url} />
      {CHOICE_FILTERS.map((filter) => (
        <ChoiceChip
          key={filter.name}
          filter={filter}
          value={query[filter.name]}
          range={{ from: range.from, to: range.to, key_id: query.key_id }}
          onChoose={(value) => goWith(url, { [filter.name]: value })}
        />
      ))}
      {BOUND_FILTERS.map(({ label, unit, from, to, pattern }) => (
        <Picker<readonly [string, string]>
          key={label}
          label={label}
          value={boundsText(query[from], query[to], unit)}
          onChoose={(span) => goWith(url, { [from]: span?.[0], [to]: span?.[1] })}
        >
          {(chosen) => <Span unit={unit} from={query[from]} to={query[to]} pattern={pattern} onChoose={chosen} />}
        </Picker>
      ))}
      {isFiltered && <a href={linkTo(url.path, rangeQuery(range))}>Clear</a>}
    </>
  )
}

type ChipProps = {
  readonly filter: ChoiceFilter
  readonly value: string
  readonly range: Query
  readonly onChoose: (value: string | null) => void
}

function ChoiceChip({ filter, value, range, onChoose }: ChipProps) {
  const shown = filter.choices?.find((choice) => choice.value === value)?.text ?? value
  return (
    <Picker label={filter.label} value={shown} onChoose={onChoose}>
      {(choose) => <Options filter={filter} range={range} onChoose={choose} />}
    </Picker>
  )
}

type OptionsProps = Pick<ChipProps, 'filter' | 'range'> & { readonly onChoose: (value: string) => void }

function Options({ filter: { label, source, choices, typed }, range, onChoose }: OptionsProps) {
  const found = useLoad<unknown>(source ? source.path(range) : null)
  const known = choices ?? (found.data === undefined ? [] : (source?.of(found.data) ?? []))
  return (
    <Choices
      label={label.toLowerCase()}
      choices={known}
      typed={typed}
      isLoading={source !== undefined && !found.data && !found.failure}
      onChoose={onChoose}
    />
  )
}

function boundsText(from: string, to: string, unit: string): string {
  if (from && to) return `${from} – ${to} ${unit}`
  if (from) return `≥ ${from} ${unit}`
  return to && `≤ ${to} ${unit}`
}
