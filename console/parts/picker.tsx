import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { zone } from '../preferences.ts'
import { Button, Field, type FieldProps, useField } from './controls.tsx'
import { isKey, leave, list, stepOf, take } from './shortcuts.ts'
import type { FormField } from './typed-settings.ts'
import { zonedText } from './values.tsx'

type Props<T> = {
  readonly label: string
  readonly value: ComponentChildren
  /** Null takes the choice back. */
  readonly onChoose: (chosen: T | null) => void
  readonly isFixed?: boolean
  readonly field?: FormField
  readonly children: (choose: (chosen: T) => void) => ComponentChildren
}

const CONTROLS = 'input, button'

export function Picker<T>({ label, value, onChoose, isFixed, field, children }: Props<T>) {
  const { shape, above, below } = useField({ label, name: field?.field })
  const [isOpen, setOpen] = useState(false)
  const frame = useRef<HTMLDivElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    frame.current?.querySelector('button')?.focus()
  }
  // Before the next key: one that is typed at once must not be lost.
  useLayoutEffect(() => {
    if (!isOpen || !panel.current) return
    // A chip may be at the right edge.
    const beyond = panel.current.getBoundingClientRect().right - document.documentElement.clientWidth + 12
    if (beyond > 0) panel.current.style.left = `${-beyond}px`
    panel.current.querySelector<HTMLElement>(CONTROLS)?.focus()
    panel.current.scrollIntoView({ block: 'nearest' })
    const over = new AbortController()
    const left = ({ target }: Event) => {
      if (!frame.current?.contains(target as Node)) setOpen(false)
    }
    for (const name of ['pointerdown', 'focusin']) document.addEventListener(name, left, { signal: over.signal })
    return () => over.abort()
  }, [isOpen])
  const pressed = (event: KeyboardEvent) => {
    if (!isOpen) return
    if (isKey(event, leave)) {
      // A dialog that it is in stays open.
      event.preventDefault()
      event.stopPropagation()
      close()
    }
    const by = stepOf(event, list)
    if (by === undefined || !panel.current) return
    event.preventDefault()
    const controls = [...panel.current.querySelectorAll<HTMLElement>(CONTROLS)]
    controls[controls.indexOf(document.activeElement as HTMLElement) + by]?.focus()
  }
  const kind = field ? 'picker field' : 'picker'
  const remove = value && !isFixed && (
    <Button class={field ? 'tiny' : 'chip chosen'} aria-label={`Remove ${label}`} onClick={() => onChoose(null)}>
      ×
    </Button>
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a look and a legend of its own.
    <div class={kind} role="group" aria-label={field ? undefined : label} ref={frame} onKeyDown={pressed}>
      {field && (
        <div class="row between">
          {above}
          {remove}
        </div>
      )}
      <button
        type="button"
        class={field ? 'clip' : value ? 'chip clip chosen' : 'chip clip'}
        {...(field && { ...shape, 'aria-labelledby': `${shape.id}-label ${shape.id}` })}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {field ? value || <span class="quiet">{field.none}</span> : label}
        {!field && value && <>: {value}</>}
      </button>
      {field ? below : remove}
      {isOpen && (
        <div class="picker-panel floating panel" role="dialog" aria-label={label} ref={panel}>
          {children((chosen) => {
            onChoose(chosen)
            close()
          })}
        </div>
      )}
    </div>
  )
}

/** It begins with a moment of the admin API and gives one. It is typed in the zone that the page shows. */
export function MomentField({ label, value, onInput, ...rest }: FieldProps & { readonly value: string }) {
  const isUtc = zone.use() === 'utc'
  const [typed, setTyped] = useState(value && zonedText(value, isUtc).slice(0, 16))
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

type SpanProps = Pick<FieldProps, 'number'> & {
  /** Numbers have one, and moments do not. */
  readonly unit?: string
  readonly from: string
  readonly to: string
  readonly onChoose: (span: readonly [from: string, to: string]) => void
}

/** The fields for a least and a most. Moments must be in order, and numbers may be missing. */
export function Span({ unit, from, to, number, onChoose }: SpanProps) {
  const [least, setLeast] = useState(from)
  const [most, setMost] = useState(to)
  const isWrong = unit === undefined && Date.parse(least) >= Date.parse(most)
  const [Input, of] = unit === undefined ? [MomentField, ''] : [Field, ` (${unit})`]
  const submit = (event: Event) => {
    event.preventDefault()
    if (!isWrong) onChoose([least.trim(), most.trim()])
  }
  const shape = { number, required: unit === undefined }
  return (
    <form class="custom" onSubmit={submit}>
      <Input label={`From${of}`} value={least} onInput={setLeast} {...shape} />
      <Input label={`To${of}`} value={most} onInput={setMost} {...shape} />
      {isWrong && <p class="bad-text">It ends before it begins.</p>}
      <button type="submit" disabled={isWrong}>
        Apply
      </button>
    </form>
  )
}

export type Choice = { readonly value: string; readonly text: string; readonly note?: string | undefined }

type ChoicesProps = {
  readonly label: string
  readonly choices: readonly Choice[]
  readonly onChoose: (value: string) => void
  /** A text like this may be chosen as it was typed, though it is none of them. */
  readonly typed?: RegExp | undefined
  readonly isLoading?: boolean
  /** The server looks for the choices. */
  readonly onTyped?: (text: string) => void
}

const MOST = 50
const FEW = 10

export function Choices({ label, choices, onChoose, typed: pattern, isLoading = false, onTyped }: ChoicesProps) {
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const isSearched = pattern || onTyped || choices.length > FEW
  const isLike = (choice: Choice) => `${choice.value} ${choice.text}`.toLowerCase().includes(text.toLowerCase())
  const found = onTyped ? choices : choices.filter(isLike)
  const isNew = pattern?.test(text) === true && !found.some(({ value }) => value === text)
  const shown: readonly Choice[] = isNew ? [...found, { value: text, text: `“${text}”` }] : found
  const hasChosen = useRef(false)
  const choose = (value: string) => {
    hasChosen.current = true
    setTyped('')
    onChoose(value)
  }
  // A form of its own could not be in the form of a dialog.
  const pressed = (event: KeyboardEvent) => {
    // With nothing typed it is the form's that this may be in, though not before a choice.
    if (!isKey(event, take) || (text === '' && hasChosen.current)) return
    event.preventDefault()
    if (text === '') return
    const [first] = isNew && found.length === 0 ? shown : found
    const exact = found.find(({ value }) => value.trim() === text) ?? first
    if (exact) choose(exact.value)
  }
  return (
    <div>
      {isSearched && (
        <input
          type="search"
          aria-label={`Find ${label}`}
          placeholder={pattern ? 'Find or type' : 'Find'}
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onKeyDown={pressed}
          onInput={({ currentTarget: { value } }) => {
            setTyped(value)
            onTyped?.(value.trim())
          }}
        />
      )}
      <ul class="plain options">
        {shown.slice(0, MOST).map(({ value, text, note }) => (
          <li key={value}>
            <Button class="row between" onClick={() => choose(value)}>
              <span>{text}</span>
              {note && <span class="quiet">{note}</span>}
            </Button>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="quiet">{isLoading ? 'Loading…' : 'None'}</p>}
    </div>
  )
}
