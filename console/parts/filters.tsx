import { useState } from 'preact/hooks'
import type { AccountShape } from '../../layers/admin/api/shapes/accounts.ts'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { pathOf } from '../api.ts'
import { views, zone } from '../preferences.ts'
import { parseJson } from '../read-json.ts'
import { goWith, linkTo, type PageUrl, pageTitle, pageUrlOf, type Query, queryText } from '../router.ts'
import { announce } from './controls.tsx'
import { Choices, Picker, Span } from './picker.tsx'
import { PRESETS, type Range } from './ranges.ts'
import { useLoad, usePaused } from './use-load.ts'
import { zonedText } from './values.tsx'

const CHOICES = PRESETS.map(([value, text]) => ({ value, text }))

type RangeProps = {
  readonly url: PageUrl
  readonly range: Range | undefined
  readonly isFixed?: boolean
}

export function RangePicker({ url, range, isFixed = true }: RangeProps) {
  const isUtc = zone.use() === 'utc'
  const preset = PRESETS.find(([name]) => name === range?.name)?.[1]
  const go = (changes: Query | null) => goWith(url, { range: null, from: null, to: null, ...changes })
  return (
    <Picker label="Range" value={preset ?? (range && spanText(range, isUtc))} onChoose={go} isFixed={isFixed}>
      {(choose) => [
        <Choices label="a range" choices={CHOICES} onChoose={(name) => choose({ range: name })} />,
        <Span
          from={range?.from ?? ''}
          to={range?.to ?? new Date().toISOString()}
          onChoose={([from, to]) => choose({ from, to })}
        />,
      ]}
    </Picker>
  )
}

/** `11-16 14:00 – 16:00`, or only the days of a range that has whole ones. */
function spanText({ from, to = '' }: Range, isUtc: boolean): string {
  if (from.length === 10 && to.length === 10) return `${from} – ${to}`
  const [first, last] = [from, to].map((at) => zonedText(at, isUtc).slice(5, 16).replace('T', ' ')) as [string, string]
  return `${first} – ${first.slice(0, 5) === last.slice(0, 5) ? last.slice(6) : last}`
}

const WAIT_MS = 200

const LISTS = { account: ['accounts', 'Customer'], key_id: ['keys', 'Key'] } as const
type Filter = keyof typeof LISTS
type Named = { readonly account: AccountShape; readonly key_id: KeyShape }

/** A customer or a key by its name; the address has its id, because names may change and may be shared. */
function NameChip({ url, filter }: { readonly url: PageUrl; readonly filter: Filter }) {
  const id = url.query.get(filter) ?? ''
  const { data } = useLoad<Named[Filter]>(id === '' ? null : pathOf(id))
  // A key is of one customer, or of none: both at once are refused.
  const choose = (chosen: Named[Filter] | null) => goWith(url, { account: null, key_id: null, [filter]: chosen?.id })
  return <NamePicker filter={filter} value={id && (data?.name ?? id)} onChoose={choose} />
}

export function NameChips({ url }: { readonly url: PageUrl }) {
  return (Object.keys(LISTS) as Filter[]).map((filter) => <NameChip key={filter} url={url} filter={filter} />)
}

type PickerProps<F extends Filter> = {
  readonly filter: F
  readonly value: string | undefined
  readonly onChoose: (chosen: Named[F] | null) => void
  readonly isOffered?: (one: Named[F]) => boolean
}

export function NamePicker<F extends Filter>(props: PickerProps<F>) {
  return (
    <Picker<Named[F]> label={LISTS[props.filter][1]} value={props.value} onChoose={props.onChoose}>
      {(choose) => <NamesFound {...props} onChoose={(chosen) => chosen && choose(chosen)} />}
    </Picker>
  )
}

type Found<T> = Partial<Pick<List<T>, 'data'>> & { readonly keys?: readonly T[]; readonly accounts?: readonly T[] }

function NamesFound<F extends Filter>({ filter, isOffered = () => true, onChoose }: PickerProps<F>) {
  const [typed, setTyped] = useState('')
  const text = usePaused(typed, WAIT_MS)
  const [list, label] = LISTS[filter]
  const found = useLoad<Found<Named[F]>>(text ? `/search?${queryText({ q: text })}` : `/${list}?limit=50`)
  // Enter must not choose from what was found for an earlier text.
  const isCurrent = typed === text && found.data !== undefined
  const rows = (isCurrent ? (found.data?.[list] ?? found.data?.data ?? []) : []).filter(isOffered)
  const noteOf = (one: Named[Filter]) => (one.object === 'key' ? `…${one.last_four}` : (one.external_id ?? undefined))
  return (
    <Choices
      label={`a ${label.toLowerCase()}`}
      choices={rows.map((one) => ({ value: one.id, text: one.name, note: noteOf(one) }))}
      isLoading={!isCurrent}
      onTyped={setTyped}
      onChoose={(id) => onChoose(rows.find((one) => one.id === id) ?? null)}
    />
  )
}

/** The address is the view. This browser keeps names of addresses. */
export function Views({ url }: { readonly url: PageUrl }) {
  const saved: Readonly<Record<string, string>> = parseJson(views.use())
  const here = linkTo(url.path, Object.fromEntries(url.query))
  const [name] = Object.entries(saved).find(([, address]) => address === here) ?? []
  const keep = (all: readonly (readonly [name: string, address: string])[], text: string) => {
    views.choose(JSON.stringify(Object.fromEntries(all)))
    announce(text)
  }
  const choose = (chosen: string | null) => {
    const others = Object.entries(saved).filter(([one]) => one !== name)
    if (chosen === null) keep(others, `The view ${name} is removed.`)
    else if (Object.hasOwn(saved, chosen)) location.hash = saved[chosen] ?? ''
    else keep([...others, [chosen, here]], `This view is kept in this browser as ${chosen}.`)
  }
  const choices = Object.entries(saved).map(([value, address]) => ({
    value,
    text: value,
    note: pageTitle(pageUrlOf(address).path[0] ?? ''),
  }))
  return (
    <Picker<string> label="View" value={name} onChoose={choose}>
      {(done) => [
        <Choices label="a view" choices={choices} typed={/^.{1,60}$/} onChoose={done} />,
        <p class="quiet small">Type a name to keep these filters under it.</p>,
      ]}
    </Picker>
  )
}
