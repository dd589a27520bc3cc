import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { useZone, type Zone } from '../preferences.ts'
import { type PageUrl, type Query, withQuery } from '../router.ts'
import { Choices, Picker, Span } from './picker.tsx'
import { PRESETS, type Range } from './ranges.ts'

const CHOICES = PRESETS.map(([value, text]) => ({ value, text }))

/** A preset, or two moments in the chosen zone. */
export function RangePicker({ url, range }: { readonly url: PageUrl; readonly range: Range }) {
  const zone = useZone()
  const preset = PRESETS.find(([name]) => name === range.name)?.[1]
  const go = (changes: Query | null) => {
    location.hash = withQuery(url, { range: null, from: null, to: null, ...changes })
  }
  return (
    <Picker label="Range" value={preset ?? spanText(range, zone)} onChoose={go} isFixed>
      {(choose) => (
        <>
          <Choices label="a range" choices={CHOICES} onChoose={(name) => choose({ range: name })} />
          <Span
            unit={zone === 'utc' ? 'UTC' : 'local time'}
            type="datetime-local"
            from={typedText(range.from, zone)}
            to={typedText(range.to ?? new Date().toISOString(), zone)}
            onChoose={([from, to]) => choose({ from: momentOf(from, zone), to: momentOf(to, zone) })}
          />
        </>
      )}
    </Picker>
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
