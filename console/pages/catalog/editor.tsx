import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { CatalogCheck } from '../../../layers/admin/api/shapes/catalog.ts'
import { ask } from '../../api.ts'
import { announce, Button } from '../../parts/controls.tsx'
import { Command, Lines, Problem } from '../../parts/page.tsx'
import type { Draft } from '../../parts/use-draft.ts'
import { useSubmission } from '../../parts/use-load.ts'
import { jsonLines, lineOf } from './json-lines.ts'
import { ModelForm } from './models.tsx'
import { ChangeList, FaultText, PutInForce, type Then } from './put-in-force.tsx'

type Props = Then & {
  readonly inForce: number
  readonly draft: string
  readonly lost: Draft['lost']
  readonly model: string
  readonly onModel: (id: string) => void
  readonly onChange: (draft: string) => void
}

type Check = Pick<CatalogCheck, 'valid' | 'faults' | 'warnings' | 'changes'>
type Checked = { readonly draft: string; readonly version: number; readonly check: Check }

/** A draft is put in force only as it was checked, against the version that it was checked against. */
export function Editor({ inForce, draft, lost, model, onModel, onChange, onClose, ...then }: Props) {
  const checking = useSubmission()
  const [checked, setChecked] = useState<Checked | undefined>(undefined)
  const [isPutting, setPutting] = useState(false)
  const section = useRef<HTMLElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const parsed = useMemo(() => parse(draft), [draft])
  const places = useMemo(() => jsonLines(draft), [draft])
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [])

  const isCurrent = checked?.draft === draft && checked.version === inForce
  const check = () =>
    checking.run(async () => {
      const result =
        'fault' in parsed
          ? { valid: false, faults: [{ path: '', message: parsed.fault }], warnings: [], changes: [] }
          : await ask<Check>('/catalog/check', { method: 'POST', body: parsed.catalog })
      setChecked({ draft, version: inForce, check: result })
      announce(result.valid ? 'The draft is valid.' : `The draft has ${result.faults.length} faults.`)
    })
  const faulty = [places.brokenAt, ...(isCurrent ? checked.check.faults.map(({ path }) => lineOf(places, path)) : [])]
  const show = (line: number) => field.current && showLine(field.current, line)
  return (
    <section ref={section} aria-label="Draft">
      <div class="halves">
        <div>
          <CodeField label="Draft" value={draft} onInput={onChange} marked={new Set(faulty)} field={field} />
          <div class="row wrap">
            <Button onClick={onClose}>Discard</Button>
            <Button
              class={isCurrent ? '' : 'primary'}
              disabled={checking.isRunning || !!lost}
              onClick={() => void check()}
            >
              Check
            </Button>
            <Button
              class={isCurrent ? 'primary' : ''}
              disabled={!isCurrent || !checked?.check.valid}
              onClick={() => setPutting(true)}
            >
              Put in force…
            </Button>
          </div>
          <p class="quiet">
            The same with a file: <Command>catalog push catalog.json</Command>
          </p>
          {lost && <p class="notice bad">{lost}</p>}
          <Problem failure={checking.failure} />
          {checked && isCurrent && <CheckResult {...{ ...checked.check, parsed, places }} onLine={show} />}
          {checked && !isCurrent && (
            <p role="status">The draft was changed since, or another version is in force: check it again.</p>
          )}
        </div>
        {'catalog' in parsed ? (
          <ModelForm of={parsed.catalog} id={model} onChoose={onModel} onChange={(now) => onChange(draftOf(now))} />
        ) : (
          <p class="notice bad">
            Line {places.brokenAt}: this is not JSON yet, so no model can be edited beside it. {parsed.fault}
          </p>
        )}
      </div>
      {isPutting && checked && (
        <PutInForce
          title="Put this catalog in force?"
          verb="Put in force"
          over={checked.version}
          path="/catalog"
          sent={{ method: 'PUT', body: JSON.parse(checked.draft) }}
          {...then}
          onClose={() => setPutting(false)}
        >
          <p>It is in force within seconds, in place of version {checked.version}. It changes:</p>
          <ChangeList {...checked.check} />
        </PutInForce>
      )}
    </section>
  )
}

export function draftOf(catalog: unknown): string {
  return JSON.stringify(catalog, null, 2)
}

function parse(draft: string): { readonly catalog: unknown } | { readonly fault: string } {
  try {
    return { catalog: JSON.parse(draft) }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

type ResultProps = Check & {
  readonly parsed: ReturnType<typeof parse>
  readonly places: ReturnType<typeof jsonLines>
  readonly onLine: (line: number) => void
}

function CheckResult({ valid, faults, warnings, changes, parsed, places, onLine }: ResultProps) {
  return (
    <section class={valid ? 'notice good' : 'notice bad'} aria-label="Result of the check">
      {faults.length > 0 && (
        <Lines
          of={faults.map((fault) => {
            const line = lineOf(places, fault.path)
            return [
              line !== undefined && <Button onClick={() => onLine(line)}>Line {line}</Button>,
              ' ',
              <FaultText in={'catalog' in parsed && parsed.catalog} of={fault} />,
            ]
          })}
        />
      )}
      {valid && (changes.length > 0 ? <p>It changes:</p> : <p>It is valid, with the same content.</p>)}
      <ChangeList changes={changes} warnings={warnings} />
    </section>
  )
}

type CodeProps = {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly marked: ReadonlySet<number | undefined>
  readonly field: RefObject<HTMLTextAreaElement>
}

function CodeField({ label, value, onInput, marked, field }: CodeProps) {
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
        This browser keeps it, without secrets.
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

function showLine(field: HTMLTextAreaElement, line: number): void {
  const before = field.value.split('\n').slice(0, line - 1)
  const start = before.reduce((sum, { length }) => sum + length + 1, 0)
  const end = field.value.indexOf('\n', start)
  field.focus()
  field.setSelectionRange(start, end < 0 ? field.value.length : end)
  field.scrollTop = (field.scrollHeight / field.value.split('\n').length) * Math.max(0, line - 5)
}
