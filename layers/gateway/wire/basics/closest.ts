/** A longer name is no typing mistake. */
const LONGEST = 64
/** One of so many letters may be wrong, missing or too many; two that changed places are one mistake. */
const LETTERS_PER_MISTAKE = 3
const MOST_MISTAKES = 2

/** The known name that a name was probably meant to be; undefined if there is none like it. */
export function closest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > LONGEST) return undefined
  const wanted = name.toLowerCase()
  let best: string | undefined
  let least = Math.min(MOST_MISTAKES, Math.floor(name.length / LETTERS_PER_MISTAKE)) + 1
  for (const candidate of known) {
    if (candidate.length > LONGEST || Math.abs(candidate.length - name.length) >= least) continue
    const mistakes = mistakesBetween(wanted, candidate.toLowerCase())
    if (mistakes >= least) continue
    best = candidate
    least = mistakes
  }
  return best
}

/** Letters to change, add, remove or swap with their neighbour. */
function mistakesBetween(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let mistakes = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        mistakes = Math.min(mistakes, (before[j - 2] ?? 0) + 1)
      }
      next.push(mistakes)
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
