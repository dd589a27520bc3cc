// How the characters of a script share tokens.
const OTHER = 0
const LETTER = 1
const DIGIT = 2
const HANGUL = 3
const IDEOGRAPH = 4
const SURROGATE = 5
const SYLLABLE = 6

// A column for each kind, in the order above. No tokenizer joins two words, or a word and a number, in one token.
/** A run of this kind is a token at least. */
const PER_RUN = [0, 1, 1, 1, 0, 0, 0]
/** A run of so many characters is a token more, and each so many after that another. */
const LONG_RUN = [128, 42, 8, 8, 3, 4, 6]
const LONGER_BY = [128, 24, 8, 8, 3, 4, 6]
/** From this kind on a script has no spaces: its runs end only at punctuation, so their number says nothing. */
const FIRST_UNSPACED = IDEOGRAPH

const APOSTROPHE = 0x27

const KINDS = new Uint8Array(0x10000)
const RANGES: readonly (readonly [kind: number, from: number, to: number])[] = [
  [DIGIT, 0x30, 0x3a],
  [LETTER, 0x41, 0x5b],
  [LETTER, 0x61, 0x7b],
  [LETTER, 0xc0, 0x2000],
  // Thai and Lao, Burmese, Khmer, kana.
  [SYLLABLE, 0x0e00, 0x0f00],
  [SYLLABLE, 0x1000, 0x10a0],
  [SYLLABLE, 0x1780, 0x1800],
  [SYLLABLE, 0x3040, 0x3130],
  [SYLLABLE, 0x31f0, 0x3200],
  [IDEOGRAPH, 0x3400, 0xa000],
  [LETTER, 0xa000, 0xac00],
  [HANGUL, 0xac00, 0xd800],
  [SURROGATE, 0xd800, 0xe000],
  // Compatibility forms of ideographs, Arabic letters and kana.
  [IDEOGRAPH, 0xf900, 0xfb00],
  [LETTER, 0xfb00, 0xfe00],
  [LETTER, 0xfe70, 0xfeff],
  [SYLLABLE, 0xff66, 0xffa0],
]
for (const [kind, from, to] of RANGES) KINDS.fill(kind, from, to)

/**
 * Counts the tokens that a text has at least, by its characters alone and in pieces of any size. No token of o200k and
 * cl100k counts as more than one, but for set phrases of Chinese, Japanese and Thai. Of natural language it is a third to
 * nine tenths of o200k's count: 0.8 of English, 0.5 of German, Chinese and code, 0.35 of Japanese.
 */
export class LeastTokens {
  #tokens = 0
  #kind = OTHER
  #length = 0
  /** The characters of each script without spaces that are not a token yet. */
  readonly #rests = [0, 0, 0, 0, 0, 0, 0]

  /** Returns the number of characters of this text that come before the token after `most`. */
  add(text: string, most: number): number {
    let kind = this.#kind
    let length = this.#length
    let tokens = this.#tokens
    let at = 0
    for (; at < text.length && tokens <= most; at++) {
      const code = text.charCodeAt(at)
      const next = KINDS[code] as number
      // “don't” may be one token.
      if (next !== kind && !(code === APOSTROPHE && kind === LETTER)) {
        if (kind >= FIRST_UNSPACED) this.#rests[kind] = length
        kind = next
        length = kind >= FIRST_UNSPACED ? (this.#rests[kind] as number) : 0
        tokens += PER_RUN[kind] as number
      }
      length += 1
      if (length >= (LONG_RUN[kind] as number)) {
        length -= LONGER_BY[kind] as number
        tokens += 1
      }
    }
    this.#kind = kind
    this.#length = length
    this.#tokens = tokens
    return tokens <= most ? at : withoutHalf(text, at - 1)
  }
}

export function hasMoreTokens(text: string, most: number): boolean {
  return new LeastTokens().add(text, most) < text.length
}

/** A character of two units is not cut in half. */
function withoutHalf(text: string, chars: number): number {
  const code = text.charCodeAt(chars)
  return chars > 0 && code >= 0xdc00 && code <= 0xdfff ? chars - 1 : chars
}

/** ASCII letters and spaces of prose and code are at least this many to a token; most other characters are one each. */
const LETTERS_PER_TOKEN = 3

/**
 * About as many tokens as a text has, by its characters alone. Measured: 1.6 to 2.1 times the tokens of prose, code and
 * JSON, 1.1 to 1.8 of tables, logs, Chinese and Japanese, 3.7 of Russian; base64, Tibetan and Amharic come out at half
 * to two thirds.
 */
export function roughTokens(text: string): number {
  const others = text.replace(/[a-z\s]/gi, '').length
  return Math.ceil((text.length - others) / LETTERS_PER_TOKEN + others)
}
