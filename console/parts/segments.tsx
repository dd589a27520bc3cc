type Props<Value extends string> = {
  readonly label: string
  readonly options: readonly (readonly [value: Value, text: string])[]
  readonly value: Value
  readonly hrefOf: (value: Value) => string
}

/** One choice of a few, each an address of its own. */
export function Segments<Value extends string>({ label, options, value, hrefOf }: Props<Value>) {
  return (
    <nav class="segments" aria-label={label}>
      {options.map(([option, text]) => (
        <a key={option} href={hrefOf(option)} aria-current={option === value ? 'true' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}
