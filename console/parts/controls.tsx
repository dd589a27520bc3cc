import { createContext, type JSX } from 'preact'
import { useContext, useEffect, useId, useState } from 'preact/hooks'
import { type ApiFailure, refusalText } from '../api.ts'
import { shared } from '../preferences.ts'
import { type PageUrl, withQuery } from '../router.ts'
import { usePaused } from './use-load.ts'

export function Button(props: JSX.IntrinsicElements['button']) {
  return <button type="button" {...props} />
}

type CopyProps = {
  readonly text: () => string
  readonly what: string
  readonly label?: string
  readonly class?: string
}

export function CopyButton({ text, what, label = 'Copy', ...rest }: CopyProps) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      announce(`Copied ${what}.`)
    } catch {
      announce(`The browser did not let the page copy ${what}: select it by hand.`)
    }
  }
  return (
    <Button {...rest} onClick={() => void copy()}>
      {label}
    </Button>
  )
}

const SHOWN_MS = 6000
const announced = shared('')
let shownUntil: ReturnType<typeof setTimeout> | undefined

export function announce(text: string): void {
  announced.set(text)
  clearTimeout(shownUntil)
  shownUntil = setTimeout(() => announced.set(''), SHOWN_MS)
}

export function Announcements() {
  return (
    <p class="announced" role="status" aria-live="polite">
      {announced.use()}
    </p>
  )
}

export type FieldProps = Omit<JSX.IntrinsicElements['input'], 'label' | 'onInput'> & {
  readonly label: string
  readonly onInput: (value: string) => void
  readonly hint?: string | undefined
  readonly number?: keyof typeof NUMBERS | undefined
  /** More than one makes it a field of lines. */
  readonly rows?: number | undefined
}

/** The numbers that may be typed: by which keys, their form, and the words for it. */
const NUMBERS = {
  count: ['numeric', '[0-9]{1,10}', 'a whole number'],
  credits: ['decimal', '[0-9]+([.][0-9]{1,9})?', 'a plain decimal of at most 9 places, such as 25 or 0.5'],
  signed: ['decimal', '-?[0-9]+([.][0-9]{1,9})?', 'a plain decimal of at most 9 places, such as 25 or -5'],
  decimal: ['decimal', '[0-9]+([.][0-9]{1,4})?', 'a decimal of at most 4 places, such as 1.25'],
} as const

/** The refusal of the form that a field is in. */
export const Refused = createContext<ApiFailure | undefined>(undefined)

type Labelled = { readonly label: string; readonly name: string | undefined; readonly hint?: string | undefined }

/** The parts that every field has: a fault stands at it, under its label, whoever found it. */
export function useField({ label, name, hint }: Labelled) {
  const id = useId()
  const refused = useContext(Refused)
  const [fault, setFault] = useState<string | undefined>(undefined)
  const told = fault ?? (refused && refused.param === name ? refusalText(refused, label) : undefined)
  const said = told ?? hint
  const above = (
    <label id={`${id}-label`} for={id}>
      {label}
    </label>
  )
  const below = said && (
    <span class={told ? 'bad-text' : 'quiet'} id={`${id}-hint`}>
      {said}
    </span>
  )
  const described = { 'aria-describedby': said && `${id}-hint`, 'aria-invalid': told ? true : undefined }
  return { shape: { id, name, ...described }, above, below, setFault }
}

export function Field({ label, name, onInput, hint, number, rows, ...rest }: FieldProps) {
  const { shape, above, below, setFault } = useField({ label, name: name as string | undefined, hint })
  const Input = rows ? 'textarea' : 'input'
  const [inputMode, pattern, wanted = rest.title] = number ? NUMBERS[number] : []
  const own = {
    ...(number && { inputMode, pattern }),
    ...(rows ? { rows } : { type: 'text' }),
    ...rest,
    ...shape,
    autocomplete: 'off',
    spellcheck: false,
    onInput: ({ currentTarget }: Event) => {
      setFault(undefined)
      onInput((currentTarget as HTMLInputElement).value)
    },
    // The browser's own words would name neither the field nor what it takes.
    onInvalid: (event: Event) => {
      event.preventDefault()
      const { form, validity } = event.currentTarget as HTMLInputElement
      setFault(validity.valueMissing || !wanted ? `${label} is missing.` : `${label} must be ${wanted}.`)
      form?.querySelector<HTMLElement>(':is(input, textarea):invalid')?.focus()
    },
  }
  return (
    <div class="field">
      {above}
      <Input {...(own as object)} />
      {below}
    </div>
  )
}

export function Tick({ children, ...box }: JSX.IntrinsicElements['input']) {
  return (
    <label>
      <input type="checkbox" {...box} /> {children}
    </label>
  )
}

type Options = readonly (readonly [value: string, text: string])[]

type ChoiceProps = {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: Options
}

export function optionsOf(any: string, values: readonly string[], textOf: (value: string) => string): Options {
  return [['', any], ...values.map((value) => [value, textOf(value)] as const)]
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
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <Choice {...props} id={id} />
    </div>
  )
}

type SegmentsProps = Omit<ChoiceProps, 'onChange'> & {
  readonly url: PageUrl
  /** The name of the choice in the address. */
  readonly name: string
}

export function Segments({ label, options, value, url, name }: SegmentsProps) {
  return (
    <nav class="segments" aria-label={label}>
      {options.map(([option, text]) => (
        <a key={option} href={withQuery(url, { [name]: option })} aria-current={option === value ? 'true' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}

export function ReferenceField(props: Omit<FieldProps, 'label'>) {
  return <Field {...props} name="reference" label="Reference" maxLength={200} hint="The payment, such as an invoice." />
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

export function download(name: string, file: Blob | string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(typeof file === 'string' ? new Blob([file], { type: 'text/csv' }) : file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
