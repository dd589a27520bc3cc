import { useState } from 'preact/hooks'
import { AMOUNT_PATTERN, Field } from './field.tsx'
import { Picker } from './picker.tsx'

type Bound = string | undefined

type Props = {
  readonly label: string
  readonly unit: string
  readonly from: Bound
  readonly to: Bound
  readonly pattern?: string
  readonly onChoose: (from: Bound, to: Bound) => void
}

/** A filter with a least and a most, of which one may be missing. */
export function Bounds({ label, unit, from, to, onChoose, ...rest }: Props) {
  return (
    <Picker label={label} value={boundsText(from, to, unit)} onClear={() => onChoose(undefined, undefined)}>
      {(close) => (
        <BoundFields
          unit={unit}
          from={from}
          to={to}
          {...rest}
          onChoose={(least, most) => {
            onChoose(least || undefined, most || undefined)
            close()
          }}
        />
      )}
    </Picker>
  )
}

function BoundFields({ unit, from, to, pattern = AMOUNT_PATTERN, onChoose }: Omit<Props, 'label'>) {
  const [least, setLeast] = useState(from ?? '')
  const [most, setMost] = useState(to ?? '')
  const submit = (event: Event) => {
    event.preventDefault()
    onChoose(least.trim(), most.trim())
  }
  const shape = { inputMode: 'decimal', pattern } as const
  return (
    <form class="custom" onSubmit={submit}>
      <Field label={`From (${unit})`} value={least} onInput={setLeast} {...shape} />
      <Field label={`To (${unit})`} value={most} onInput={setMost} {...shape} />
      <button type="submit">Apply</button>
    </form>
  )
}

function boundsText(from: Bound, to: Bound, unit: string): string | undefined {
  if (from && to) return `${from} – ${to} ${unit}`
  if (from) return `≥ ${from} ${unit}`
  return to && `≤ ${to} ${unit}`
}
