import { keyShapes } from './key-shapes.ts'
import { plainText } from './plain-text.ts'

const MOST_CHARS = 1_000
/** Several times as many, because a long address becomes a short word. */
const MOST_READ = 8_000

/** The ends of host names. A name such as `messages.0.text` or `gpt-4.1-mini` must not be one. */
const ENDS =
  '(?:com|co|net|org)\\.[a-z]{2}|com|net|org|io|ai|dev|app|cloud|co|tech|xyz|gov|edu|eu|de|uk|fr|nl|ch|se|jp|cn|kr|au|ca|us|ru|internal|local|localdomain|lan|corp|intranet|svc|arpa|example'
const OWNER = '(?:organi[sz]ation|org|project|account|tenant|subscription|workspace|resource ?group)s?'

/**
 * The names of the operator's accounts and of the provider's machines, and the word that callers read in place of each.
 * No pattern reads a character more than a bounded number of times: the text may be long and hostile.
 */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [keyShapes(), '[key]'],
  [/\barn:[\w:/.*@+=,-]+/g, '[arn]'],
  [/[a-z][a-z0-9+.-]{1,19}:(?:\\?\/){2}[^\s"'`<>]+(?<![.,;:!?)\]}])/gi, '[address]'],
  [/(?<![\w.+%-])[\w.+%-]+@[a-z][\w-]*(?:\.[\w-]+)+/gi, '[address]'],
  [
    /(?<![\w:.])\[?(?:(?:[\da-f]{1,4}:){7}|(?:[\da-f]{1,4}:){0,6}:(?:[\da-f]{1,4}:){0,6})[\da-f]{1,4}\b(?:\](?::\d{1,5})?)?/gi,
    '[host]',
  ],
  [
    RegExp(
      `(?<![\\w.-])(?:(?:[a-z0-9][\\w-]{0,62}\\.)+(?:${ENDS})|localhost)(?![\\w-]|\\.\\w)(?::\\d{1,5})?(?:/[^\\s"'\`<>]*(?<![.,;:!?)\\]}]))?`,
      'gi',
    ),
    '[host]',
  ],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?!\w|\.\d)|\bip(?:-\d{1,3}){4}\b/g, '[host]'],
  [/(?<![\w.:/-])[a-z][a-z0-9]*-[a-z0-9-]*:\d{4,5}(?!\w)|(?<=\bhost(?:name)?=['"]?)[\w.-]+/gi, '[host]'],
  [
    /(?<![\w#.)\]}>-])~?(?!\/(?:v\d|messages|tools|input|properties|\$defs)\b)(?:\/[\w.@+~:-]+){2,}|(?<!\w)[a-z]:\\[^\s"'`<>]+/gi,
    '[path]',
  ],
  [/\b(?:org-[\w-]{3,}|(?:org|proj|acct|wrkspc|req)_\w{6,})/gi, '[id]'],
  [/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|(?<![\w.,-])\d{12}(?![\w-])/gi, '[id]'],
  [RegExp(`(?<=\\b${OWNER}/)[\\w.:~-]+`, 'gi'), '[id]'],
  [
    RegExp(
      `(?<=\\b${OWNER}(?:[ _-]?(?:id|number|name))?[\\s:=#('"\`]{1,4})(?:\\d{9,}|(?=[\\w-]{0,80}\\d)(?=[\\w-]{0,80}[a-z])[\\w-]{4,})`,
      'gi',
    ),
    '[id]',
  ],
]

/** A text of an upstream, as a caller may read it: without the key that was sent, and without places and ids of the operator's. */
export function upstreamWords(words: string, key?: string): string {
  // Without invisible characters first, of which one could split a key in two.
  const text = plainText(words, '')
  const withoutKey = (key ? text.replaceAll(key, '[key]') : text).slice(0, MOST_READ)
  return SHAPES.reduce((rest, [shape, shown]) => rest.replace(shape, shown), withoutKey).slice(0, MOST_CHARS)
}
