import { useState } from 'preact/hooks'
import { MINUTE_MS } from '../../layers/gateway/domain/time.ts'
import { type PageUrl, type Query, withQuery } from '../router.ts'
import { useZone, type Zone } from '../zone.ts'
import { Choices } from './choices.tsx'
import { Field } from './field.tsx'
import { Picker } from './picker.tsx'
import { PRESETS, type Range } from './ranges.ts'

const CHOICES = PRESETS.map(([value, text]) => ({ value, text }))

/** A preset, or two moments in the chosen zone. */
export function RangePicker({ url, range }: { readonly url: PageUrl; readonly range: Range }) {
  const zone = useZone()
  const preset = PRESETS.find(([name]) => name === range.name)?.[1]
  const choose = (changes: Query, close: () => void) => {
    location.hash = withQuery(url, { range: null, from: null, to: null, ...changes })
    close()
  }
  return (
    <Picker label="Range" value={preset ?? spanText(range, zone)}>
      {(close) => (
        <>
          <Choices label="a range" choices={CHOICES} onChoose={(name) => choose({ range: name }, close)} />
          <Custom range={range} zone={zone} onChoose={(from, to) => choose({ from, to }, close)} />
        </>
      )}
    </Picker>
  )
}

type CustomProps = {
  readonly range: Range
  readonly zone: Zone
  readonly onChoose: (from: string, to: string) => void
}

function Custom({ range, zone, onChoose }: CustomProps) {
  const [from, setFrom] = useState(typedText(range.from, zone))
  const [to, setTo] = useState(typedText(range.to ?? new Date().toISOString(), zone))
  const isOrdered = from < to
  const submit = (event: Event) => {
    event.preventDefault()
    if (isOrdered) onChoose(momentOf(from, zone), momentOf(to, zone))
  }
  const inZone = zone === 'utc' ? 'UTC' : 'local time'
  return (
    <form class="custom" onSubmit={submit}>
      <Field label={`From (${inZone})`} type="datetime-local" required value={from} onInput={setFrom} />
      <Field label={`To (${inZone})`} type="datetime-local" required value={to} onInput={setTo} />
      {!isOrdered && <p class="bad-text">It ends before it begins.</p>}
      <button type="submit" disabled={!isOrdered}>
        Apply
      </button>
    </form>
  )
}

/** As a field for moments has it: `2026-11-16T14:03`. */
function typedText(at: string, zone: Zone): string {
  const time = new Date(at)
  const aheadMs = zone === 'utc' ? 0 : -time.getTimezoneOffset() * MINUTE_MS
  return new Date(time.getTime() + aheadMs).toISOString().slice(0, 16)
}

function momentOf(typed: string, zone: Zone): string {
  return new Date(zone === 'utc' ? `${typed}Z` : typed).toISOString()
}

/** `11-16 14:00 – 16:00`, or only the days of a range that has whole ones. */
function spanText({ from, to = '' }: Range, zone: Zone): string {
  if (from.length === 10 && to.length === 10) return `${from} – ${to}`
  const [first, last] = [from, to].map((at) => typedText(at, zone).slice(5).replace('T', ' ')) as [string, string]
  return `${first} – ${first.slice(0, 5) === last.slice(0, 5) ? last.slice(6) : last}`
}
