/** An object of JSON as it came, with nothing known of its fields. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Undefined if the text is not JSON. No error leaves here: it would quote a text that may be a prompt or a secret. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
