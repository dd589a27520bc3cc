import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('..', import.meta.url)

/** The places of figures in documents: between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`. */
export const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  'docs/performance.md': ['table', 'bill-lines', 'lanes'],
  'docs/deploy.md': ['bill-total'],
  'README.md': ['bill-total'],
}

export function writeDocuments(blocks: Readonly<Record<string, string>>): void {
  for (const [path, names] of Object.entries(DOCUMENTS)) {
    const file = fileURLToPath(new URL(path, ROOT))
    const given = names.flatMap((name) => (blocks[name] === undefined ? [] : [[name, blocks[name]] as const]))
    const text = given.reduce((before, [name, block]) => replaceBlock(before, name, block), readFileSync(file, 'utf8'))
    writeFileSync(file, text)
  }
}

/** A block of one line stands in a sentence, a longer one between empty lines. Throws if the marks are missing. */
export function replaceBlock(text: string, name: string, block: string): string {
  const [open, close] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
  const [start, end] = [text.indexOf(open), text.indexOf(close)]
  if (start < 0 || end < start) throw new Error(`There are no marks ${open} and ${close}.`)
  const inner = block.includes('\n') ? `\n\n${block}\n\n` : block
  return text.slice(0, start + open.length) + inner + text.slice(end)
}
