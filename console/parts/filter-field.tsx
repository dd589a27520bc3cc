import { useState } from 'preact/hooks'
import { Field } from './field.tsx'

type Props = {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly pattern?: string
}

/** A typed filter. It applies, and enters the address, when Enter is pressed or the field is left. */
export function FilterField({ label, value, onChange, ...rest }: Props) {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  if (known !== value) {
    setKnown(value)
    setTyped(value)
  }
  const apply = () => {
    if (typed.trim() !== value) onChange(typed.trim())
  }
  return (
    <form
      onFocusOut={apply}
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <Field label={label} type="search" value={typed} onInput={setTyped} {...rest} />
    </form>
  )
}
