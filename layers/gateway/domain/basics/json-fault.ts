// V8 tells the position of a fault in JSON for some faults only, and quotes the text, which may be a prompt. So a body
// that was refused is read again here, once, and only a character or its kind is told.

/** JSON from outside is taken up to this depth: V8 parses JSON that is nested deeper than it can write again. */
export const MAX_DEPTH = 64

type Wanted = 'value' | 'element' | 'name' | 'field' | 'colon' | 'next' | 'end'

type Fault = { readonly at: number; readonly says: string }

export function jsonFault(text: string): string | undefined {
  const fault = findFault(text)
  if (!fault) return undefined
  const hint = HINTS_BY_START.find(([start]) => start.test(text.slice(0, LONGEST_START)))?.[1]
  return `${positionOf(text, fault.at)} ${fault.says}${hint ? `. ${hint}` : ''}`
}

function findFault(text: string): Fault | undefined {
  const open: string[] = []
  let wanted: Wanted = 'value'
  let at = 0
  for (;;) {
    while (isBlank(text.charCodeAt(at))) at += 1
    if (at === text.length) return wanted === 'end' ? undefined : { at, says: endsEarly(wanted, open.length) }
    const kind = kindAt(text, at)
    const next = after(kind, wanted, open)
    if (next === undefined) return misplaced(text, at, wanted)
    if (open.length > MAX_DEPTH) return { at, says: `is nested more than ${MAX_DEPTH} levels deep` }
    wanted = next
    const end = kind === 'string' ? stringEnd(text, at) : kind === 'scalar' ? scalarEnd(text, at) : at + 1
    if (typeof end !== 'number') return end
    at = end
  }
}

/** The tokens that may follow this one; undefined if it may not stand here. `open` has the brackets that are not closed yet. */
function after(kind: string, wanted: Wanted, open: string[]): Wanted | undefined {
  const closes = kind === CLOSING.get(open.at(-1))
  if (closes && (wanted === 'next' || wanted === (kind === '}' ? 'field' : 'element'))) {
    open.pop()
    return open.length === 0 ? 'end' : 'next'
  }
  if (wanted === 'colon') return kind === ':' ? 'value' : undefined
  if (wanted === 'name' || wanted === 'field') return kind === 'string' ? 'colon' : undefined
  if (wanted === 'next') return kind !== ',' ? undefined : open.at(-1) === '{' ? 'name' : 'value'
  if (wanted === 'end') return undefined
  if (kind === '{' || kind === '[') {
    open.push(kind)
    return kind === '{' ? 'field' : 'element'
  }
  if (kind !== 'string' && kind !== 'scalar') return undefined
  return open.length === 0 ? 'end' : 'next'
}

const CLOSING: ReadonlyMap<string | undefined, string> = new Map([
  ['{', '}'],
  ['[', ']'],
])

/** A bracket, a comma or a colon is its own kind. */
function kindAt(text: string, at: number): string {
  const sign = text.charAt(at)
  if (sign === '"') return 'string'
  if ('{}[],:'.includes(sign)) return sign
  return isDigit(text.charCodeAt(at)) || scalarEnd(text, at) > at ? 'scalar' : 'other'
}

const [TAB, LINE_FEED, RETURN, BLANK, QUOTE, BACKSLASH] = [9, 10, 13, 32, 34, 92]

function isBlank(code: number): boolean {
  return code === BLANK || code === LINE_FEED || code === RETURN || code === TAB
}

const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Most scalars are short integers, for which a pattern is slow. */
function scalarEnd(text: string, at: number): number {
  const isShort = isDigit(text.charCodeAt(at)) && ',]}'.includes(text.charAt(at + 1))
  return isShort ? at + 1 : matchEnd(SCALAR, text, at)
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function stringEnd(text: string, start: number): number | Fault {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code < BLANK) return { at, says: `has ${unescaped(code)} inside a string` }
    if (code !== BACKSLASH) continue
    const end = matchEnd(ESCAPE, text, at)
    if (end === at) return { at, says: 'has a backslash inside a string that begins no escape. Write it twice' }
    at = end - 1
  }
  return { at: text.length, says: 'ends inside a string: it was cut off, or a double quote is missing' }
}

function unescaped(code: number): string {
  const isLineEnd = code === LINE_FEED || code === RETURN
  return isLineEnd ? 'a line break, which must be written \\n,' : 'a control character, which must be escaped,'
}

const NEEDED: Readonly<Record<Wanted, string>> = {
  value: 'a value is needed',
  element: "a value or ']' is needed",
  name: 'a name in double quotes is needed',
  field: "a name in double quotes or '}' is needed",
  colon: "':' is needed",
  next: 'a comma or a closing bracket is needed',
  end: 'the body should have ended',
}

function endsEarly(wanted: Wanted, depth: number): string {
  const unclosed = depth === 0 ? '' : `, with ${depth} ${depth === 1 ? 'bracket' : 'brackets'} still open`
  return `ends where ${NEEDED[wanted]}${unclosed}: it was cut off`
}

function misplaced(text: string, at: number, wanted: Wanted): Fault {
  const sign = text.charAt(at)
  const hint = hintFor(text, at, wanted)
  return { at, says: `has ${shown(text, at, sign)} where ${NEEDED[wanted]}${hint ? `. ${hint}` : ''}` }
}

function shown(text: string, at: number, sign: string): string {
  if (/[A-Za-z_$]/.test(sign)) return 'a letter'
  if (/\d/.test(sign)) return 'a digit'
  if (sign === '"') return 'a string'
  if (/[!-~]/.test(sign)) return sign === "'" ? "a single quote (')" : `'${sign}'`
  return `the character U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

const OTHER_WORDS = /^(?:True|False|None|undefined|NaN|-?Infinity)\b/

function hintFor(text: string, at: number, wanted: Wanted): string | undefined {
  const sign = text.charAt(at)
  if ("'`“”‘’".includes(sign)) return 'JSON has straight double quotes only'
  if (sign === '/' || sign === '#') return 'JSON has no comments'
  if (wanted === 'end') return 'Send one JSON object'
  if ((wanted === 'name' && sign === '}') || (wanted === 'value' && sign === ']')) {
    return 'The comma before it does not belong'
  }
  if (wanted === 'name' || wanted === 'field') return /[\w$]/.test(sign) ? UNQUOTED : undefined
  if (wanted !== 'value' && wanted !== 'element') return undefined
  const [word] = OTHER_WORDS.exec(text.slice(at, at + LONGEST_START)) ?? []
  if (word) return `JSON has no ${word}: it has true, false, null and numbers`
  return /[A-Za-z]/.test(sign) ? 'A text needs double quotes' : undefined
}

const UNQUOTED = 'A name needs double quotes, which some shells take away: send the body from a file'

const LONGEST_START = 100

const HINTS_BY_START: readonly (readonly [RegExp, string])[] = [
  [/^\uFEFF/, 'The body begins with a byte order mark: send it as UTF-8 without one'],
  [/^\s*\[object /, 'The body is an object that was made text without JSON.stringify'],
  [/^\s*--/, 'It looks like multipart form data: send JSON'],
  [/^\s*</, 'It looks like HTML or XML: send JSON'],
  [/^\s*[\w.%+-]+(?:\[\w*\])?=/, 'It looks like form data: send JSON'],
  [/^\s*@/, 'It looks like the name of a file: curl sends the file itself with --data @FILE'],
]

/** Lines end as editors count them; columns are counted from 1. */
function positionOf(text: string, at: number): string {
  let line = 1
  let start = 0
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', start)) {
    line += 1
    start = end + 1
  }
  return `line ${line}, column ${at - start + 1}`
}
