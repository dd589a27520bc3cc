import { readFileSync } from 'node:fs'

// docs/clients.md tells people what docs/openapi.json tells programs: the words and examples of one are those of the other.

const GUIDE = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')

/** The cells of the first table with this head, from a heading on. */
export function rowsOf(head: string, heading = ''): readonly string[][] {
  const [, table = ''] = GUIDE.slice(GUIDE.indexOf(`\n## ${heading}`)).split(`\n${head}\n`)
  const [rows = ''] = table.split(/\n(?!\|)/)
  const [, ...lines] = rows.split('\n')
  return lines.map((row) => row.slice(2, -2).split(' | '))
}

/** The words beside every name in the first column of a table. A path such as `a.b` counts as `a`. */
export function wordsOf(head: string, heading?: string): Readonly<Record<string, string>> {
  const words = rowsOf(head, heading).flatMap(([names = '', ...cells]) =>
    Array.from(names.matchAll(/`([\w-]+)/g), ([, name]) => [name, sentence(cells.join('; '))]),
  )
  return Object.fromEntries(words)
}

/** Links are left out: they lead nowhere from the document. */
export function sentence(words: string): string {
  const plain = words.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`
}

/** The answers that are shown, by their kinds. */
export const EXAMPLES: Readonly<Record<string, object>> = Object.fromEntries(
  Array.from(GUIDE.matchAll(/^```json\n(.*?)^```$/gms), ([, json = '']) => JSON.parse(json)).map((example) => [
    example.object ?? 'credits',
    example,
  ]),
)
