import { useState } from 'preact/hooks'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { zone } from '../preferences.ts'
import { Field, type FieldProps } from './controls.tsx'

/** The moment as its field has it: `2026-11-16T14:03`. */
export function typedMoment(at: string, isUtc: boolean): string {
  const time = new Date(at)
  const aheadMs = isUtc ? 0 : -time.getTimezoneOffset() * MINUTE_MS
  return new Date(time.getTime() + aheadMs).toISOString().slice(0, 16)
}

/** It begins with a moment of the admin API and gives one. It is typed in the zone that the page shows. */
export function MomentField({ label, value, onInput, ...rest }: FieldProps & { readonly value: string }) {
  const isUtc = zone.use() === 'utc'
  const [typed, setTyped] = useState(value && typedMoment(value, isUtc))
  const changed = (now: string) => {
    setTyped(now)
    onInput(now && new Date(isUtc ? `${now}Z` : now).toISOString())
  }
  return (
    <Field
      {...rest}
      type="datetime-local"
      label={`${label} (${isUtc ? 'UTC' : 'local time'})`}
      value={typed}
      onInput={changed}
    />
  )
}
