import { useState } from 'preact/hooks'
import { type PageUrl, withQuery } from '../router.ts'
import { Field } from './field.tsx'

export const DAY_PATTERN = '\\d{4}-\\d{2}-\\d{2}'

/** The filters that the address of a page has; a new value is another address. */
export function filtersIn<Name extends string>(url: PageUrl, names: readonly Name[]) {
  const query = Object.fromEntries(names.map((name) => [name, url.query.get(name) ?? ''])) as Record<Name, string>
  const filter = (name: Name) => ({
    value: query[name],
    onChange: (value: string) => location.replace(withQuery(url, { [name]: value })),
  })
  return { query, filter }
}

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
