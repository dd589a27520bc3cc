type Props = { readonly changes: readonly string[]; readonly warnings: readonly string[] }

/** The changes of a catalog, in words, and its warnings. */
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
