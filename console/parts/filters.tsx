import { useState } from 'preact/hooks'
import type { AccountShape } from '../../layers/admin/api/shapes/accounts.ts'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { pathOf } from '../api.ts'
import { zone } from '../preferences.ts'
import { goWith, type PageUrl, type Query, queryText } from '../router.ts'
import { Choices, Picker, Span } from './picker.tsx'
import { PRESETS, type Range } from './ranges.ts'
import { useLoad, usePaused } from './use-load.ts'

const CHOICES = PRESETS.map(([value, text]) => ({ value, text }))

export function RangePicker({ url, range }: { readonly url: PageUrl; readonly range: Range }) {
  const isUtc = zone.use() === 'utc'
  const preset = PRESETS.find(([name]) => name === range.name)?.[1]
  const go = (changes: Query | null) => goWith(url, { range: null, from: null, to: null, ...changes })
  const momentOf = (typed: string) => new Date(isUtc ? `${typed}Z` : typed).toISOString()
  return (
    <Picker label="Range" value={preset ?? spanText(range, isUtc)} onChoose={go} isFixed>
      {(choose) => (
        <>
          <Choices label="a range" choices={CHOICES} onChoose={(name) => choose({ range: name })} />
          <Span
            unit={isUtc ? 'UTC' : 'local time'}
            type="datetime-local"
            from={typedText(range.from, isUtc)}
            to={typedText(range.to ?? new Date().toISOString(), isUtc)}
            onChoose={([from, to]) => choose({ from: momentOf(from), to: momentOf(to) })}
          />
        </>
      )}
    </Picker>
  )
}

/** The moment as its field has it: `2026-11-16T14:03`. */
function typedText(at: string, isUtc: boolean): string {
  const time = new Date(at)
  const aheadMs = isUtc ? 0 : -time.getTimezoneOffset() * MINUTE_MS
  return new Date(time.getTime() + aheadMs).toISOString().slice(0, 16)
}

/** `11-16 14:00 – 16:00`, or only the days of a range that has whole ones. */
function spanText({ from, to = '' }: Range, isUtc: boolean): string {
  if (from.length === 10 && to.length === 10) return `${from} – ${to}`
  const [first, last] = [from, to].map((at) => typedText(at, isUtc).slice(5).replace('T', ' ')) as [string, string]
  return `${first} – ${first.slice(0, 5) === last.slice(0, 5) ? last.slice(6) : last}`
}

const WAIT_MS = 200

/** Chips for a customer and for a key, by their names; the address has the id, because names may change and may be shared. */
export function NameChips({ url }: { readonly url: PageUrl }) {
  return (
    <>
      <NameChip url={url} label="Customer" filter="account" list="accounts" />
      <NameChip url={url} label="Key" filter="key_id" list="keys" />
    </>
  )
}

type Lists = { readonly keys: KeyShape; readonly accounts: AccountShape }

type ChipProps = {
  readonly url: PageUrl
  readonly label: string
  readonly filter: 'account' | 'key_id'
  readonly list: keyof Lists
}

function NameChip({ url, label, filter, list }: ChipProps) {
  const id = url.query.get(filter) ?? ''
  const known = useLoad<Lists[typeof list]>(id === '' ? null : pathOf(id))
  return (
    <NamePicker
      label={label}
      list={list}
      value={id && (known.data?.name ?? id)}
      onChoose={(chosen) => goWith(url, { [filter]: chosen?.id })}
    />
  )
}

type PickerProps<List extends keyof Lists> = {
  readonly label: string
  readonly list: List
  readonly value: string | undefined
  readonly onChoose: (chosen: Lists[List] | null) => void
  readonly isOffered?: (one: Lists[List]) => boolean
}

export function NamePicker<List extends keyof Lists>({ label, value, onChoose, ...found }: PickerProps<List>) {
  return (
    <Picker<Lists[List]> label={label} value={value} onChoose={onChoose}>
      {(choose) => <NamesFound {...found} onChoose={choose} />}
    </Picker>
  )
}

type Found<T> = Partial<Pick<List<T>, 'data'>> & { readonly [list in keyof Lists]?: readonly T[] }
type FoundProps<List extends keyof Lists> = Omit<PickerProps<List>, 'label' | 'value' | 'onChoose'> & {
  readonly onChoose: (chosen: Lists[List]) => void
}

function NamesFound<List extends keyof Lists>({ list, isOffered = () => true, onChoose }: FoundProps<List>) {
  const [typed, setTyped] = useState('')
  const text = usePaused(typed, WAIT_MS)
  const found = useLoad<Found<Lists[List]>>(text ? `/search?${queryText({ q: text })}` : `/${list}?limit=50`)
  // Enter must not choose from what was found for an earlier text.
  const isCurrent = typed === text && found.data !== undefined
  const rows = (isCurrent ? (found.data?.[list] ?? found.data?.data ?? []) : []).filter(isOffered)
  return (
    <Choices
      label={list === 'keys' ? 'a key' : 'a customer'}
      choices={rows.map((one) => ({
        value: one.id,
        text: one.name,
        note: one.object === 'key' ? `…${one.last_four}` : (one.external_id ?? undefined),
      }))}
      isLoading={!isCurrent}
      onTyped={setTyped}
      onChoose={(id) => {
        const chosen = rows.find((one) => one.id === id)
        if (chosen) onChoose(chosen)
      }}
    />
  )
}
