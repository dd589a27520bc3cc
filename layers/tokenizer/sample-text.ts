/** A longer text is counted in windows, one in each of as many equal stretches, at a random position. */
const WHOLE_CHARS = 64 * 1024
const WINDOW_CHARS = 2 * 1024
const WINDOWS = WHOLE_CHARS / WINDOW_CHARS

/** The parts of a text that are counted, at most 64 Ki characters, and the tokens of the whole by those of its parts. */
export function sampleText(text: string, random: () => number = Math.random) {
  if (text.length <= WHOLE_CHARS) return { pieces: text === '' ? [] : [text], scale: sumOf }
  const stretch = text.length / WINDOWS
  const pieces = Array.from({ length: WINDOWS }, (_, i) => {
    const from = Math.floor(i * stretch + random() * (stretch - WINDOW_CHARS))
    return text.slice(from, from + WINDOW_CHARS)
  })
  return { pieces, scale: (tokens: readonly number[]) => Math.ceil((sumOf(tokens) * text.length) / WHOLE_CHARS) }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
