import type { RefObject } from 'preact'
import { useRef } from 'preact/hooks'

type Props = {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly marked: ReadonlySet<number>
  readonly field: RefObject<HTMLTextAreaElement>
}

/** A field with the numbers of its lines, some of them marked. */
export function CodeField({ label, value, onInput, marked, field }: Props) {
  const gutter = useRef<HTMLPreElement>(null)
  const count = value.split('\n').length
  return (
    <div class="field">
      <label for="draft">{label}</label>
      <div class="code">
        <pre ref={gutter} class="gutter" aria-hidden="true">
          {numbersOf(count, marked)}
        </pre>
        <textarea
          id="draft"
          ref={field}
          wrap="off"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="draft-hint"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          onScroll={(event) => gutter.current?.scrollTo(0, event.currentTarget.scrollTop)}
        />
      </div>
      <span class="quiet" id="draft-hint">
        Nothing changes before it is put in force.
      </span>
    </div>
  )
}

function numbersOf(count: number, marked: ReadonlySet<number>) {
  return Array.from({ length: count }, (_, i) =>
    marked.has(i + 1) ? (
      <mark key={i} class="bad">
        {i + 1}
        {'\n'}
      </mark>
    ) : (
      `${i + 1}\n`
    ),
  )
}

/** Selects a line, and scrolls to it. */
export function showLine(field: HTMLTextAreaElement, line: number): void {
  const before = field.value.split('\n').slice(0, line - 1)
  const start = before.reduce((sum, { length }) => sum + length + 1, 0)
  const end = field.value.indexOf('\n', start)
  field.focus()
  field.setSelectionRange(start, end < 0 ? field.value.length : end)
  field.scrollTop = (field.scrollHeight / field.value.split('\n').length) * Math.max(0, line - 5)
}
