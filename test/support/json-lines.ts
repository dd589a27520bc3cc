/** An audit tells a line for each key, and then one of how it ended. */
export type AuditLine = { readonly object: string; readonly key_id: string; readonly last_id?: string | null }

/** The objects of a text that has one on each line. */
export function jsonLines<T = AuditLine>(text: string): T[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
