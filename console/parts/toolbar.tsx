import { useEffect, useState } from 'preact/hooks'

type Filter = { readonly value: string; readonly onChange: (value: string) => void }

type SearchProps = Filter & { readonly label: string; readonly placeholder: string }

const TYPING_MS = 150

/** Applied while it is typed, a moment after the last key. */
export function SearchField({ label, placeholder, value, onChange }: SearchProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed.trim() === value) return
    const timer = setTimeout(() => onChange(typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
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

type ChoiceProps = Filter & {
  /** Its name, or the id by which a label names it. */
  readonly label?: string
  readonly id?: string
  readonly options: readonly (readonly [string, string])[]
}

export function Choice({ label, id, value, onChange, options }: ChoiceProps) {
  return (
    <select id={id} aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  )
}
