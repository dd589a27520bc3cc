// Texts of callers and upstreams, as a terminal, a log or a page may show them. Characters that a terminal obeys, or
// that hide or reverse the text beside them, become a visible sign.

/** Control characters, invisible ones and halves of pairs. Joiners and the styles of emoji stay: they are part of words. */
const UNSEEN = /(?!\r\n|[\t\n\u200C]|\u200D|\uFE0E|\uFE0F)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{DI}\uFFF9-\uFFFB]/gu
const LINE_ENDS = /\r\n|[\t\n]/g
/** Nearly every text has only these characters. */
const PRINTABLE = /^[\x20-\x7e]*$/
const IN_PLACE = '\uFFFD'

export function plainText(text: string, inPlace = IN_PLACE): string {
  return PRINTABLE.test(text) ? text : text.replace(UNSEEN, inPlace)
}

export function plainLine(text: string, mostChars = Number.POSITIVE_INFINITY): string {
  return plainText(text.length > mostChars ? `${text.slice(0, mostChars)}…` : text).replace(LINE_ENDS, ' ')
}

export function isPlainLine(text: string): boolean {
  return plainLine(text) === text
}

export function plainJson(json: string): string {
  return PRINTABLE.test(json) ? json : json.replace(UNSEEN, escaped)
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

export type Output = { log(text: string): void; error(text: string): void }

export function plainOutput(output: Output): Output {
  return { log: (text) => output.log(plainText(text)), error: (text) => output.error(plainText(text)) }
}

export function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value)
  if (Array.isArray(value)) return value.map(plainValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [plainText(name), plainValue(field)]))
}
