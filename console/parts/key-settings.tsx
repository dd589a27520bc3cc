import { isInRanges } from '../cidr.ts'
import { useIdentity } from '../identity.ts'
import { Field } from './field.tsx'
import { rangesOf, SCOPES, type Typed } from './typed-settings.ts'

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
