import { plainText } from '../basics/plain-text.ts'
import { keyShapes } from '../keys/secret-text.ts'

const MOST_CHARS = 1_000
/** Several times as many, because a long address becomes a short word. */
const MOST_READ = 8_000

// The names of the operator's accounts and of the provider's machines, by the word that callers read in place of each.
// No pattern reads a character more than a bounded number of times: the text may be long and hostile. A host has one of
// the usual ends, because `messages.0.text` and `gpt-4.1-mini` are none.
const SHAPES: Readonly<Record<string, readonly RegExp[]>> = {
  '[key]': [keyShapes()],
  '[arn]': [/\barn:[\w:/.*@+=,-]+/g],
  '[address]': [
    /[a-z][a-z0-9+.-]{1,19}:(?:\\?\/){2}[^\s"'`<>]+(?<![.,;:!?)\]}])/gi,
    /(?<![\w.+%-])[\w.+%-]+@[a-z][\w-]*(?:\.[\w-]+)+/gi,
  ],
  '[host]': [
    /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?!\w|\.\d)/g,
    /(?<![\w:.])\[?(?:(?:[\da-f]{1,4}:){7}|(?:[\da-f]{1,4}:){0,6}:(?:[\da-f]{1,4}:){0,6})[\da-f]{1,4}\b(?:\](?::\d{1,5})?)?/gi,
    /(?<![\w.-])(?:(?:[a-z0-9][\w-]{0,62}\.)+(?:(?:com|co|net|org)\.[a-z]{2}|com|net|org|io|ai|dev|app|cloud|co|tech|xyz|gov|edu|eu|de|uk|fr|nl|ch|se|jp|cn|kr|au|ca|us|ru|internal|local|localdomain|lan|corp|intranet|svc|arpa|example)|localhost)(?![\w-]|\.\w)(?::\d{1,5})?(?:\/[^\s"'`<>]*(?<![.,;:!?)\]}]))?/gi,
    /\bip(?:-\d{1,3}){4}\b|(?<![\w.:/-])[a-z][a-z0-9]*(?:-[a-z0-9-]*|\d):\d{4,5}(?!\w)|(?<=\bhost(?:name)?=['"]?)[\w.-]+/gi,
  ],
  '[path]': [
    /(?<![\w#.)\]}>-])(?:~|\.\.?)?(?!\/(?:v\d|messages|tools|input|properties|\$defs)\b)(?:\/[\w.@+~:-]+){2,}|(?<!\w)[a-z]:\\[^\s"'`<>]+/gi,
  ],
  '[id]': [
    /\b(?:org-[\w-]{3,}|(?:org|proj|acct|wrkspc|req)_\w{6,})/gi,
    /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|(?<![\w.,-])\d{12}(?![\w-])/gi,
    /(?<=\b(?:organi[sz]ation|org|project|account|tenant|subscription|workspace|resource ?group)s?\/)[\w.:~-]+/gi,
    /(?<=\b(?:organi[sz]ation|org|project|account|tenant|subscription|workspace|resource ?group)s?[ _-]?(?:id|number)[\s:=#('"`]{1,4})(?=[\w-]{0,80}\d)[\w-]{4,}/gi,
    /(?<=\b(?:organi[sz]ation|org|project|account|tenant|subscription|workspace|resource ?group)s?(?:[ _-]?name)?[\s:=#('"`]{1,4})(?:\d{9,}|(?=[\w-]{0,80}\d)(?=[\w-]{0,80}[a-z])[\w-]{4,})/gi,
  ],
}
const PAIRS = Object.entries(SHAPES).flatMap(([shown, shapes]) => shapes.map((shape) => [shape, shown] as const))

export function upstreamWords(words: string, key?: string): string {
  // An invisible character could split a key in two.
  const text = plainText(words, '')
  const withoutKey = (key ? text.replaceAll(key, '[key]') : text).slice(0, MOST_READ)
  return PAIRS.reduce((rest, [shape, shown]) => rest.replace(shape, shown), withoutKey).slice(0, MOST_CHARS)
}
