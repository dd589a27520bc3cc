/** What JSON writes as it is: printable ASCII without quotes and backslashes. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** A text as JSON, for texts that are short and mostly plain: the general way takes several times as long. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}
