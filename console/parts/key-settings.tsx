import type { CreateKeyBody, KeyShape } from '../../operator/admin-api/shapes.ts'
import { isInRanges } from '../cidr.ts'
import { useIdentity } from '../identity.ts'
import { Field } from './field.tsx'

/** The settings of a key as somebody types them. */
export type Typed = {
  readonly name: string
  readonly external_id: string
  readonly note: string
  readonly expires_at: string
  readonly rpm: string
  readonly daily_limit: string
  readonly max_concurrent: string
  readonly allowlist: string
  readonly scopes: readonly string[]
}

/** The gateway's own list and defaults, to which a test holds these. */
export const SCOPES: readonly string[] = ['chat.completions', 'models.read']
export const DEFAULTS: Typed = {
  name: '',
  external_id: '',
  note: '',
  expires_at: '',
  rpm: '60',
  daily_limit: '10000',
  max_concurrent: '200',
  allowlist: '',
  scopes: SCOPES,
}

export function typedOf(key: KeyShape): Typed {
  return {
    name: key.name,
    external_id: key.external_id ?? '',
    note: key.note ?? '',
    expires_at: key.expires_at?.slice(0, 19) ?? '',
    rpm: String(key.rpm),
    daily_limit: String(key.daily_limit),
    max_concurrent: String(key.max_concurrent),
    allowlist: key.allowlist.join('\n'),
    scopes: key.scopes,
  }
}

type Settings = Omit<CreateKeyBody, 'credits' | 'secret_sha256' | 'last_four'>

export function settingsOf(typed: Typed): Settings {
  return {
    name: typed.name.trim(),
    external_id: typed.external_id.trim() || null,
    note: typed.note.trim() || null,
    expires_at: typed.expires_at === '' ? null : new Date(`${typed.expires_at}Z`).toISOString(),
    rpm: Number(typed.rpm),
    daily_limit: Number(typed.daily_limit),
    max_concurrent: Number(typed.max_concurrent),
    allowlist: rangesOf(typed),
    scopes: typed.scopes,
  }
}

/** Only what somebody changed, so that nobody's other change is written over. */
export function changesOf(before: Typed, after: Typed): Partial<Settings> {
  const changed = Object.entries(settingsOf(after)).filter(([name]) => !isSame(before, after, name as keyof Typed))
  return Object.fromEntries(changed)
}

/** What was typed, on top of what another person has changed meanwhile. */
export function rebase(typed: Typed, before: Typed, now: Typed): Typed {
  const names = Object.keys(typed) as (keyof Typed)[]
  return Object.fromEntries(names.map((name) => [name, (isSame(before, typed, name) ? now : typed)[name]])) as Typed
}

function isSame(a: Typed, b: Typed, name: keyof Typed): boolean {
  return String(a[name]) === String(b[name])
}

function rangesOf({ allowlist }: Typed): string[] {
  return allowlist.split(/[\s,]+/).filter(Boolean)
}

type Props = { readonly typed: Typed; readonly onChange: (typed: Typed) => void }

export function KeySettings({ typed, onChange }: Props) {
  const set = (name: keyof Typed) => (value: string) => onChange({ ...typed, [name]: value })
  const count = { inputMode: 'numeric', pattern: '[0-9]+', required: true } as const
  return (
    <>
      <Field
        label="Name"
        value={typed.name}
        onInput={set('name')}
        required
        maxLength={100}
        hint="What this key is for."
      />
      <div class="columns">
        <Field label="Requests a minute" value={typed.rpm} onInput={set('rpm')} {...count} />
        <Field label="Requests a day" value={typed.daily_limit} onInput={set('daily_limit')} {...count} />
        <Field label="Requests at once" value={typed.max_concurrent} onInput={set('max_concurrent')} {...count} />
      </div>
      <Scopes typed={typed} onChange={onChange} />
      <Field
        label="Allowed from"
        value={typed.allowlist}
        onInput={set('allowlist')}
        rows={3}
        hint="A range in each line, such as 203.0.113.0/24. Empty: every address."
      />
      <LockOut ranges={rangesOf(typed)} />
      <div class="columns">
        <Field
          label="External id"
          value={typed.external_id}
          onInput={set('external_id')}
          maxLength={128}
          hint="Your own id of the customer."
        />
        <Field
          label="Expires (UTC)"
          value={typed.expires_at}
          onInput={set('expires_at')}
          pattern="\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?"
          hint="Such as 2027-01-31T00:00. Empty: never."
        />
      </div>
      <Field label="Note" value={typed.note} onInput={set('note')} maxLength={200} />
    </>
  )
}

function Scopes({ typed, onChange }: Props) {
  const all = [...new Set([...SCOPES, ...typed.scopes])]
  const toggled = (scope: string) => all.filter((other) => typed.scopes.includes(other) !== (other === scope))
  return (
    <fieldset class="choices">
      <legend>Scopes</legend>
      {all.map((scope) => (
        <label key={scope}>
          <input
            type="checkbox"
            checked={typed.scopes.includes(scope)}
            onChange={() => onChange({ ...typed, scopes: toggled(scope) })}
          />{' '}
          {scope}
        </label>
      ))}
    </fieldset>
  )
}

/** A list of ranges is in force from the next request on, and shuts out everybody whom it forgets. */
function LockOut({ ranges }: { readonly ranges: readonly string[] }) {
  const { address } = useIdentity()
  if (ranges.length === 0) return null
  const isOut = address != null && !isInRanges(address, ranges)
  return (
    <p class={isOut ? 'notice warn' : 'quiet'} aria-live="polite">
      {isOut
        ? `This list locks you out: your address, ${address}, is in none of its ranges.`
        : 'Requests from every other address are refused from the next one on.'}
    </p>
  )
}
