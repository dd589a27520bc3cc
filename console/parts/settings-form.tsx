import type { JSX } from 'preact'
import { listIn } from '../../layers/admin/settings/setting-texts.ts'
import { isInRanges } from '../../layers/gateway/domain/admission/cidr.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import { identityHere } from '../session.ts'
import { Field, type FieldProps, Tick } from './controls.tsx'
import type { Form, FormField, Typed } from './typed-settings.ts'

type InputProps = { readonly of: FormField; readonly value: string; readonly onInput: (value: string) => void }

const INPUTS: Readonly<Record<FormField['kind'], (props: InputProps) => JSX.Element>> = {
  text: Text,
  count: (props) => <Text {...props} inputMode="numeric" pattern="[0-9]+" />,
  credits: (props) => <Text {...props} inputMode="decimal" pattern="[0-9]+([.][0-9]{1,9})?" />,
  scopes: Scopes,
  patterns: (props) => <Text {...props} rows={3} />,
  ranges: Ranges,
  moment: (props) => <Text {...props} pattern="\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?" />,
  flag: ({ of, value, onInput }) => (
    <Tick checked={value !== ''} onChange={() => onInput(value ? '' : 'yes')}>
      {of.label} from its keys
    </Tick>
  ),
}

type FormProps = { readonly form: Form; readonly typed: Typed; readonly onChange: (typed: Typed) => void }

export function SettingsForm({ form, typed, onChange }: FormProps) {
  return (
    <div class="columns">
      {form.map((one) => {
        const Input = INPUTS[one.kind]
        const set = (value: string) => onChange({ ...typed, [one.field]: value })
        return (
          <div key={one.field} class={one.isShort ? undefined : 'across'}>
            <Input of={one} value={typed[one.field] ?? ''} onInput={set} />
          </div>
        )
      })}
    </div>
  )
}

type TextProps = InputProps & Pick<FieldProps, 'inputMode' | 'pattern' | 'rows'>

function Text({ of: { label, hint, remark, none, mostChars }, ...rest }: TextProps) {
  const said = remark ? `${hint} They take ${remark(Number(rest.value) || 1)}.` : hint
  return <Field label={label} {...rest} required={none === undefined} hint={said} maxLength={mostChars} />
}

function Scopes({ of, value, onInput }: InputProps) {
  const chosen = listIn(value)
  const all = [...new Set<string>([...SCOPES, ...chosen])]
  const toggled = (scope: string) => all.filter((other) => chosen.includes(other) !== (other === scope))
  return (
    <fieldset class="row wrap bar">
      <legend>{of.label}</legend>
      {all.map((scope) => (
        <Tick key={scope} checked={chosen.includes(scope)} onChange={() => onInput(of.typed(toggled(scope)))}>
          {scope}
        </Tick>
      ))}
    </fieldset>
  )
}

/** A list of ranges is in force from the next request on, and shuts out every address that it omits. */
function Ranges(props: InputProps) {
  const { address } = identityHere()
  const ranges = listIn(props.value)
  const isOut = address != null && !isInRanges(address, ranges)
  return (
    <>
      <Text {...props} rows={3} />
      {ranges.length > 0 && (
        <p class={isOut ? 'notice warn' : 'quiet'} aria-live="polite">
          {isOut
            ? `This list locks you out: your address, ${address}, is in none of its ranges.`
            : 'Requests from every other address are refused from the next one on.'}
        </p>
      )}
    </>
  )
}
