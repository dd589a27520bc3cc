/** An object of JSON as it came, with nothing known of its fields. */
export type JsonObject = Readonly<Record<string, unknown>>
