import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Every document, by its path from the root. */
export const DOCUMENTS: readonly string[] = ['.', 'docs', 'docs/decisions'].flatMap((folder) =>
  readdirSync(`${ROOT}${folder}`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`.replace(/^\.\//, '')),
)

export function readDocument(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8')
}

/** The fenced blocks of a document that are in this language. */
export function blocksOf(path: string, language: string): string[] {
  const blocks = readDocument(path).matchAll(/^```(\w*)\n(.*?)^```$/gms)
  return [...blocks].flatMap(([, its, text = '']) => (its === language ? [text] : []))
}

/** A document without its fenced blocks. */
export function proseOf(path: string): string {
  return readDocument(path).replaceAll(/^```.*?^```$/gms, '')
}

export type Heading = { readonly level: number; readonly text: string; readonly anchor: string }

export function headingsOf(path: string): Heading[] {
  return [...proseOf(path).matchAll(/^(#+) (.*)$/gm)].map(([, marks = '', text = '']) => ({
    level: marks.length,
    text,
    anchor: text
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  }))
}

/** The rows of the table that has this head, each a list of cells without their backticks. */
export function tableOf(path: string, head: string): string[][] {
  const [, table = ''] = readDocument(path).split(`\n${head}\n`)
  const [rows = ''] = table.split(/\n(?!\|)/)
  return rows
    .split('\n')
    .slice(1)
    .map((row) => row.replaceAll('`', '').slice(2, -2).split(' | '))
}

/** One for each command: lines that end in a backslash are joined, comments are left out. */
export function commandsOf(path: string): string[] {
  return blocksOf(path, 'sh')
    .flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '')
}
