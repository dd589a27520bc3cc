import type { ComponentChildren, JSX } from 'preact'
import { useContext } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { CatalogShape, PlanShape } from '../../layers/admin/api/shapes/catalog.ts'
import { listIn } from '../../layers/admin/settings/setting-texts.ts'
import { isInRanges } from '../../layers/gateway/domain/admission/cidr.ts'
import { matchesPattern } from '../../layers/gateway/domain/admission/matches-pattern.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import { zone } from '../preferences.ts'
import { identityHere } from '../session.ts'
import { Field, type FieldProps, Refused, Tick } from './controls.tsx'
import { modelsIn } from './models.ts'
import { Choices, MomentField, Picker } from './picker.tsx'
import type { Form, FormField, Typed } from './typed-settings.ts'
import { useLoad } from './use-load.ts'
import { zonedText } from './values.tsx'

type InputProps = { readonly of: FormField; readonly value: string; readonly onInput: (value: string) => void }

const INPUTS: Readonly<Record<FormField['kind'], (props: InputProps) => JSX.Element>> = {
  text: Text,
  count: (props) => <Text {...props} number="count" />,
  credits: (props) => <Text {...props} number="credits" />,
  scopes: Scopes,
  patterns: Models,
  ranges: Ranges,
  plan: ({ of, value, onInput }) => (
    <Picker<string> field={of} label={of.label} value={value} onChoose={(name) => onInput(name ?? '')}>
      {(choose) => <Plans onChoose={choose} />}
    </Picker>
  ),
  moment: End,
  flag: ({ of, value, onInput }) => (
    <Tick checked={value !== ''} onChange={() => onInput(value ? '' : 'yes')}>
      {of.label}
    </Tick>
  ),
}

type FormProps = {
  readonly form: Form
  readonly typed: Typed
  readonly onChange: (typed: Typed) => void
  readonly children?: ComponentChildren
}

export function SettingsForm({ form, typed, onChange, children }: FormProps) {
  return (
    <div class="columns">
      {form.map((one, i) => {
        const Input = INPUTS[one.kind]
        const set = (value: string) => onChange({ ...typed, [one.field]: value })
        return (
          <div key={one.field} class={one.isWide ? 'across' : undefined}>
            <Input of={one} value={typed[one.field] ?? ''} onInput={set} />
            {i === 0 && children}
          </div>
        )
      })}
    </div>
  )
}

type TextProps = InputProps & Pick<FieldProps, 'number' | 'rows'>

function Text({ of: { field, label, hint, remark, none, mostChars }, ...rest }: TextProps) {
  const said = remark ? `${hint} They take ${remark(Number(rest.value) || 1)}.` : hint
  return <Field name={field} label={label} {...rest} required={none === undefined} hint={said} maxLength={mostChars} />
}

function Scopes({ of, value, onInput }: InputProps) {
  const chosen = listIn(value)
  const all = [...new Set<string>([...SCOPES, ...chosen])]
  const toggled = (scope: string) => all.filter((other) => chosen.includes(other) !== (other === scope))
  return (
    <fieldset class="row wrap bar">
      <legend>{of.label}</legend>
      {all.map((scope) => (
        <Tick key={scope} checked={chosen.includes(scope)} onChange={() => onInput(toggled(scope).join('\n'))}>
          {scope}
        </Tick>
      ))}
    </fieldset>
  )
}

function Models({ of, value, onInput }: InputProps) {
  const { data } = useLoad<CatalogShape>('/catalog')
  const isRefused = useContext(Refused)?.param === of.field
  const ids = modelsIn(data?.catalog).map(({ id }) => id)
  const chosen = listIn(value)
  const missing = data ? chosen.filter((pattern) => !ids.some((id) => matchesPattern(pattern, id))) : []
  const toggle = (text: string) => onInput([...new Set(chosen).symmetricDifference(new Set(listIn(text)))].join('\n'))
  const noteOf = (id: string) => (chosen.includes(id) ? 'chosen' : undefined)
  const choices = [...new Set([...chosen, ...ids])].map((id) => ({ value: id, text: id, note: noteOf(id) }))
  return (
    <>
      <Picker<string> field={of} label={of.label} value={chosen.join(', ')} onChoose={(text) => onInput(text ?? '')}>
        {() => <Choices label="models, or a pattern such as claude-*" {...{ choices }} typed={/./} onChoose={toggle} />}
      </Picker>
      {missing.length > 0 && !isRefused && <Told isBad>{`The catalog has no model ${missing.join(', ')}.`}</Told>}
    </>
  )
}

function Told({ isBad, children }: { readonly isBad?: boolean; readonly children: string }) {
  return (
    <p class={isBad ? 'notice warn' : 'quiet'} aria-live="polite">
      {children}
    </p>
  )
}

function Plans({ onChoose }: { readonly onChoose: (name: string) => void }) {
  const { data } = useLoad<List<PlanShape>>('/plans')
  const plans = data?.data.map(({ name, factor }) => ({ value: name, text: name, note: `× ${factor}` }))
  return <Choices label="a plan" choices={plans ?? []} isLoading={!plans} onChoose={onChoose} />
}

const PERIODS = [
  { value: '30', text: 'in 30 days' },
  { value: '90', text: 'in 90 days' },
  { value: '365', text: 'in 1 year' },
]

function End({ of, value, onInput }: InputProps) {
  const isUtc = zone.use() === 'utc'
  const shown = value && `${zonedText(value, isUtc).slice(0, 16).replace('T', ' ')}${isUtc ? ' UTC' : ''}`
  const inDays = (days: string) => new Date(Date.now() + Number(days) * DAY_MS).toISOString()
  return (
    <Picker<string> field={of} label={of.label} value={shown} onChoose={(at) => onInput(at ?? '')}>
      {(choose) => [
        <Choices label="a period" choices={PERIODS} onChoose={(days) => choose(inDays(days))} />,
        <MomentField label="At" value={value} onInput={onInput} />,
      ]}
    </Picker>
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
        <Told isBad={isOut}>
          {isOut
            ? `This list locks you out: your address, ${address}, is in none of its ranges.`
            : 'Requests from every other address are refused from the next one on.'}
        </Told>
      )}
    </>
  )
}
