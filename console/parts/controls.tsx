import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useListener } from '../use-listener.ts'
import { usePaused } from './use-load.ts'

type ButtonProps = {
  readonly onClick: () => void
  readonly class?: string
  readonly disabled?: boolean
  readonly 'aria-label'?: string
  readonly children: ComponentChildren
}

/** One that sends no form. */
export function Button(props: ButtonProps) {
  return <button type="button" {...props} />
}

type CopyProps = { readonly text: () => string; readonly what: string; readonly label?: string }

export function CopyButton({ text, what, label = 'Copy' }: CopyProps) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      announce(`Copied ${what}.`)
    } catch {
      announce(`The browser did not let the page copy ${what}: select it by hand.`)
    }
  }
  return <Button onClick={() => void copy()}>{label}</Button>
}

const ANNOUNCED = 'waybill:announced'
const SHOWN_MS = 6000

/** Announces an event: on the page for a moment, and to a screen reader. */
export function announce(text: string): void {
  dispatchEvent(new CustomEvent(ANNOUNCED, { detail: text }))
}

export function Announcements() {
  const [text, setText] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useListener(ANNOUNCED, (event) => {
    setText((event as CustomEvent<string>).detail)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setText(''), SHOWN_MS)
  })
  return (
    <p class="announced" role="status" aria-live="polite">
      {text}
    </p>
  )
}

let ids = 0

/** The id of an element, by which a label or a hint finds it. */
export function useOwnId(): string {
  const [id] = useState(() => `id-${++ids}`)
  return id
}

type FieldProps = {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly hint?: string
  readonly required?: boolean
  readonly pattern?: string
  readonly inputMode?: 'decimal' | 'numeric' | 'text'
  readonly placeholder?: string
  readonly rows?: number
  readonly maxLength?: number
  readonly disabled?: boolean
  readonly type?: 'text' | 'datetime-local' | 'password'
}

export function Field({ label, value, onInput, hint, rows, ...rest }: FieldProps) {
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

type ChoiceProps = {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly (readonly [value: string, text: string])[]
}

/** One of a few, by its name alone; a Select shows the name. */
export function Choice({ label, id, value, onChange, options }: ChoiceProps & { readonly id?: string }) {
  return (
    <select
      id={id}
      aria-label={id ? undefined : label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  )
}

export function Select(props: ChoiceProps) {
  const id = useOwnId()
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <Choice {...props} id={id} />
    </div>
  )
}

/** A plain decimal of at most nine places. */
export const AMOUNT_PATTERN = '[0-9]+(\\.[0-9]{1,9})?'

export function AmountField(props: FieldProps) {
  return <Field {...props} inputMode="decimal" pattern={AMOUNT_PATTERN} required />
}

type SearchProps = Omit<ChoiceProps, 'options'> & { readonly placeholder: string }

const TYPING_MS = 150

/** Applied while it is typed, a moment after the last key. */
export function SearchField({ label, placeholder, value, onChange }: SearchProps) {
  const [typed, setTyped] = useState(value)
  const text = usePaused(typed, TYPING_MS).trim()
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (text !== value) onChange(text)
  }, [text])
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      autocomplete="off"
      spellcheck={false}
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  )
}
