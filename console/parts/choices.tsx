import { useState } from 'preact/hooks'
import { Button } from './button.tsx'

export type Choice = { readonly value: string; readonly text: string; readonly note?: string | undefined }

type Props = {
  readonly label: string
  readonly choices: readonly Choice[]
  readonly onChoose: (value: string) => void
  /** A text like this may be chosen as it was typed, though it is none of them. */
  readonly typed?: RegExp | undefined
  readonly isLoading?: boolean
  /** For choices that the server looks for. */
  readonly onTyped?: (text: string) => void
}

/** More are found by typing. */
const MOST = 50
/** Fewer are seen at once. */
const FEW = 10

export function Choices({ label, choices, onChoose, typed: pattern, isLoading = false, onTyped }: Props) {
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const isSearched = pattern || onTyped || choices.length > FEW
  const found = onTyped ? choices : choices.filter((choice) => matches(choice, text))
  const isNew = pattern?.test(text) === true && !found.some(({ value }) => value === text)
  const shown: readonly Choice[] = isNew ? [...found, { value: text, text: `“${text}”` }] : found
  const choose = (event: Event) => {
    event.preventDefault()
    const [first] = isNew && found.length === 0 ? shown : found
    if (first) onChoose(first.value)
  }
  return (
    <form onSubmit={choose}>
      {isSearched && (
        <input
          type="search"
          aria-label={`Find ${label}`}
          placeholder={pattern ? 'Find or type' : 'Find'}
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={({ currentTarget: { value } }) => {
            setTyped(value)
            onTyped?.(value.trim())
          }}
        />
      )}
      <ul class="plain options">
        {shown.slice(0, MOST).map(({ value, text, note }) => (
          <li key={value}>
            <Button class="row between" onClick={() => onChoose(value)}>
              <span>{text}</span>
              {note && <span class="quiet">{note}</span>}
            </Button>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="quiet">{isLoading ? 'Loading…' : 'None'}</p>}
    </form>
  )
}

function matches({ value, text }: Choice, typed: string): boolean {
  return `${value} ${text}`.toLowerCase().includes(typed.toLowerCase())
}
