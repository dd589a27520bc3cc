type Props = { readonly changes: readonly string[]; readonly warnings: readonly string[] }

/** What a catalog changes, in words, and what is to be thought of. */
export function ChangeList({ changes, warnings }: Props) {
  return (
    <>
      {changes.length > 0 && (
        <ul class="plain">
          {changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="notice warn">
          {warning}
        </p>
      ))}
    </>
  )
}
