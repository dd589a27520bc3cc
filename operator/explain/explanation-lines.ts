import type { Explained } from '../../layers/admin/api/shapes/requests.ts'

const WIDTH = 14

/** An explanation for a terminal: the facts, and after a blank line the charge. */
export function explanationLines(explanation: readonly Explained[]): string[] {
  return explanation.flatMap(({ part, name, lines }, i) => {
    const isNextPart = i > 0 && part !== explanation[i - 1]?.part
    const named = lines.map((line, n) => ((n === 0 ? name : '').padEnd(WIDTH) + line).trimEnd())
    return isNextPart ? ['', ...named] : named
  })
}
