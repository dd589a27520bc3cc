import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

type Props = {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly marked: ReadonlySet<number>
  readonly field: RefObject<HTMLTextAreaElement>
}

export function CodeField({ label, value, onInput, marked, field }: Props) {
  const gutter = useRef<HTMLPreElement>(null)
  const shown = useRef<HTMLPreElement>(null)
  useEffect(() => colour(shown.current?.firstChild, value), [value])
  return (
    <div class="field">
      <label for="draft">{label}</label>
      <div class="code">
        <pre ref={gutter} class="gutter" aria-hidden="true">
          {value.split('\n').map((_, i) => {
            const number = `${i + 1}\n`
            return marked.has(i + 1) ? <mark class="bad">{number}</mark> : number
          })}
        </pre>
        <div class="coloured">
          <pre ref={shown} aria-hidden="true">
            {`${value}\n`}
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
            onScroll={({ currentTarget: { scrollLeft, scrollTop } }) => {
              gutter.current?.scrollTo(0, scrollTop)
              shown.current?.scrollTo(scrollLeft, scrollTop)
            }}
          />
        </div>
      </div>
      <span class="quiet" id="draft-hint">
        Nothing changes before it is put in force. This browser keeps it until then, without secrets.
      </span>
    </div>
  )
}

/** A name, a text, or a value without quotes. */
const TOKEN = /("(?:[^"\\\n]|\\.)*")(\s*:)?|[\w.+-]+/g

/** The text stays one node: a catalog may have a hundred thousand characters, and each is typed into. */
function colour(node: ChildNode | null | undefined, text: string): void {
  if (!node || !globalThis.Highlight) return
  const found = { name: new Highlight(), text: new Highlight(), value: new Highlight() }
  for (const { 0: whole, 1: quoted, 2: colon, index } of text.matchAll(TOKEN)) {
    const endOffset = index + (quoted ?? whole).length
    const range = new StaticRange({ startContainer: node, startOffset: index, endContainer: node, endOffset })
    found[colon ? 'name' : quoted ? 'text' : 'value'].add(range)
  }
  for (const [kind, ranges] of Object.entries(found)) CSS.highlights.set(kind, ranges)
}

export function showLine(field: HTMLTextAreaElement, line: number): void {
  const before = field.value.split('\n').slice(0, line - 1)
  const start = before.reduce((sum, { length }) => sum + length + 1, 0)
  const end = field.value.indexOf('\n', start)
  field.focus()
  field.setSelectionRange(start, end < 0 ? field.value.length : end)
  field.scrollTop = (field.scrollHeight / field.value.split('\n').length) * Math.max(0, line - 5)
}
