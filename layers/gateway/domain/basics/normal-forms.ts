/** Beyond it no character has another form. */
const CODE_POINTS = 0x30000
const UNKNOWN = 0xff
/** The bytes that each character gains, found out when it is first seen; Chinese and Korean ones gain none. */
const GAINS = new Uint8Array(CODE_POINTS).fill(UNKNOWN).fill(0, 0x3400, 0xa000).fill(0, 0xac00, 0xd7a4)
/** Marks that break up the letter before them, because they belong closer to its base: 'ǘ' with a dot below is three characters. */
const BREAKING_MARKS = /[\u031b\u0323-\u0331]/
const MOST_BROKEN_BYTES = 3
const SHORT = 64

/** NFC and NFKC make U+0958 grow from 3 bytes to 6, U+FDFA from 3 to 33; to normalise takes 100 times as long. */
export function gainedBytes(text: string): number {
  if (text.length > SHORT && Buffer.byteLength(text) === text.length) return 0
  let gained = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) as number
    if (code < 0x80) continue
    if (code > 0xffff) i++
    const gain = GAINS[code] ?? 0
    gained += gain === UNKNOWN ? learn(code) : gain
  }
  return gained
}

function learn(code: number): number {
  const char = String.fromCodePoint(code)
  const [came, ...forms] = [char, char.normalize('NFC'), char.normalize('NFKC')].map((form) => Buffer.byteLength(form))
  const gain = BREAKING_MARKS.test(char) ? MOST_BROKEN_BYTES : Math.max(...forms) - (came as number)
  GAINS[code] = Math.max(0, gain)
  return Math.max(0, gain)
}
