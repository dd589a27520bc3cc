import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ROOT } from '../documents/support/markdown.ts'

const FILES = globSync('**/*.{ts,tsx,js,cjs,css,html}', {
  cwd: ROOT,
  exclude: ['**/node_modules', 'cdk.out', 'coverage', 'dist', '.waybill'],
})
/** A comment on lines of its own, or at the end of a line. */
const COMMENTS = /^[ \t]*\{?\/\*[\s\S]*?\*\/|(?:^|[ \t])\/\/ .*$/gm
/** Capitals mark the start of a sentence, which then has a clause in place of a subject. A comment begins with no `Of` or `By`. */
const CLAUSES = /\b(?:What|Who|Whoever|Where|Whether)\b|(?<=^[ \t]*\{?(?:\/\*\*?|\/\/)\s+)(?:Of|By)\b/g

test('no sentence of a comment begins with What, Who, Whoever, Where or Whether, and no comment with Of or By: it names its noun', () => {
  expect(FILES.length).toBeGreaterThan(500)
  const found = FILES.flatMap((file) => clausesIn(readFileSync(join(ROOT, file), 'utf8')).map((at) => `${file}:${at}`))
  expect(found).toEqual([])
})

test.each([
  ['/** What is asked. */', ['1: What is asked.']],
  ['/**\n * The key.\n * Whether it is there.\n */', ['3: Whether it is there.']],
  ['  {/* Whoever asks. */}', ['1: Whoever asks.']],
  [`const a = 1\n/${'/'} The key. Who has it?\n`, ['2: Who has it?']],
  [`f() /${'/'} Where it is`, ['1: Where it is']],
  ['/** Of a key. */', ['1: Of a key.']],
  ['/** A part of it. By name. */', []],
  ["/** The type of WhoAmI, and what it says. */\nconst a = 'What'", []],
])('%j has %j', (text, found) => {
  expect(clausesIn(text)).toEqual(found)
})

function clausesIn(text: string): string[] {
  return [...text.matchAll(COMMENTS)].flatMap(({ 0: comment, index }) =>
    [...comment.matchAll(CLAUSES)].map(({ index: at }) => {
      const line = text.slice(0, index + at).split('\n').length
      return `${line}: ${comment.slice(at).split(/\n|\s*\*\//)[0]}`
    }),
  )
}
