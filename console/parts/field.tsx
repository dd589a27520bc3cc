import { useState } from 'preact/hooks'
import { Choice } from './toolbar.tsx'

let ids = 0

/** The id of an element, by which a label or a hint finds it. */
export function useOwnId(): string {
  const [id] = useState(() => `id-${++ids}`)
  return id
}

type Props = {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly hint?: string
  readonly required?: boolean
  readonly pattern?: string
  readonly inputMode?: 'decimal' | 'numeric' | 'text'
  readonly rows?: number
  readonly maxLength?: number
  readonly disabled?: boolean
  readonly type?: 'text' | 'date' | 'datetime-local'
}

export function Field({ label, value, onInput, hint, rows, ...rest }: Props) {
  const id = useOwnId()
  const common = {
    id,
    value,
    'aria-describedby': hint ? `${id}-hint` : undefined,
    autocomplete: 'off',
    spellcheck: false,
    onInput: (event: Event) => onInput((event.currentTarget as HTMLInputElement).value),
  } as const
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows ? (
        <textarea {...common} rows={rows} required={rest.required} maxLength={rest.maxLength} />
      ) : (
        <input type="text" {...rest} {...common} />
      )}
      {hint && (
        <span class="quiet" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  )
}

type SelectProps = {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly (readonly [value: string, label: string])[]
}

export function Select({ label, value, onChange, options }: SelectProps) {
  const id = useOwnId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Choice id={id} value={value} onChange={onChange} options={options} />
    </div>
  )
}

/** A plain decimal of at most nine places. */
export const AMOUNT_PATTERN = '[0-9]+(\\.[0-9]{1,9})?'

export function AmountField(props: Props) {
  return <Field {...props} inputMode="decimal" pattern={AMOUNT_PATTERN} required />
}
