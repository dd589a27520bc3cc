import { useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { KeyDetail, KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { keyPath } from '../api.ts'
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

/** A key by its name; the address has its id, because names may change and may be shared. */
export function KeyChip({ url }: { readonly url: PageUrl }) {
  const id = url.query.get('key_id') ?? ''
  const key = useLoad<KeyDetail>(id === '' ? null : keyPath(id))
  return (
    <Picker<string>
      label="Key"
      value={id && (key.data?.name ?? id)}
      onChoose={(chosen) => goWith(url, { key_id: chosen })}
    >
      {(chosen) => <KeyChoices onChoose={chosen} />}
    </Picker>
  )
}

type Found = Partial<Pick<List<KeyShape>, 'data'>> & { readonly keys?: readonly KeyShape[] }

function KeyChoices({ onChoose }: { readonly onChoose: (id: string) => void }) {
  const [typed, setTyped] = useState('')
  const text = usePaused(typed, WAIT_MS)
  const found = useLoad<Found>(text ? `/search?${queryText({ q: text })}` : '/keys?limit=50')
  // Enter must not choose from what was found for an earlier text.
  const isCurrent = typed === text && found.data !== undefined
  const keys = isCurrent ? (found.data?.keys ?? found.data?.data ?? []) : []
  return (
    <Choices
      label="a key"
      choices={keys.map(({ id, name, last_four }) => ({ value: id, text: name, note: `…${last_four}` }))}
      isLoading={!isCurrent}
      onTyped={setTyped}
      onChoose={onChoose}
    />
  )
}
