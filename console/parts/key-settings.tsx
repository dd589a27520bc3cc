import type { JSX } from 'preact'
import { listIn, typedText } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS, type SettingKind } from '../../layers/admin/settings/setting-words.ts'
import { isInRanges } from '../../layers/gateway/domain/admission/cidr.ts'
import type { Setting } from '../../layers/gateway/domain/keys/key-settings.ts'
import type { Scope } from '../../layers/gateway/endpoints.ts'
import { identityHere } from '../session.ts'
import { Field, type FieldProps, Tick } from './controls.tsx'
import type { Typed } from './typed-settings.ts'

/** Only their type is taken over: the table of all endpoints would come along. */
const SCOPES = Object.keys({
  'chat.completions': true,
  embeddings: true,
  'models.read': true,
} satisfies Record<Scope, true>)

type InputProps = { readonly setting: Setting; readonly value: string; readonly onInput: (value: string) => void }

const INPUTS: Readonly<Record<SettingKind, (props: InputProps) => JSX.Element>> = {
  text: Text,
  count: (props) => <Text {...props} inputMode="numeric" pattern="[0-9]+" />,
  credits: (props) => <Text {...props} inputMode="decimal" pattern="[0-9]+([.][0-9]{1,9})?" />,
  scopes: Scopes,
  patterns: (props) => <Text {...props} rows={3} />,
  ranges: Ranges,
  moment: (props) => <Text {...props} pattern="\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?" />,
}

export function KeySettings({ typed, onChange }: { readonly typed: Typed; readonly onChange: (typed: Typed) => void }) {
  return (
    <div class="columns">
      {ASKED_SETTINGS.map((setting) => {
        const { field, kind, isShort } = SETTING_WORDS[setting]
        const Input = INPUTS[kind]
        const set = (value: string) => onChange({ ...typed, [field]: value })
        return (
          <div key={field} class={isShort ? undefined : 'across'}>
            <Input setting={setting} value={typed[field]} onInput={set} />
          </div>
        )
      })}
    </div>
  )
}

type TextProps = InputProps & Pick<FieldProps, 'inputMode' | 'pattern' | 'rows'>

function Text({ setting, ...rest }: TextProps) {
  const { label, hint, none, mostChars } = SETTING_WORDS[setting]
  return <Field label={label} {...rest} required={none === undefined} hint={hint} maxLength={mostChars} />
}

function Scopes({ setting, value, onInput }: InputProps) {
  const chosen = listIn(value)
  const all = [...new Set([...SCOPES, ...chosen])]
  const toggled = (scope: string) => all.filter((other) => chosen.includes(other) !== (other === scope))
  return (
    <fieldset class="row wrap bar">
      <legend>{SETTING_WORDS[setting].label}</legend>
      {all.map((scope) => (
        <Tick key={scope} checked={chosen.includes(scope)} onChange={() => onInput(typedText(setting, toggled(scope)))}>
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
