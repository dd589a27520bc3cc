import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DOCUMENTS, replaceBlock } from '../../bench/documents.ts'
import { ROOT } from '../documents/support/markdown.ts'

const marks = Object.entries(DOCUMENTS).flatMap(([path, names]) => names.map((name) => [path, name] as const))

test.each(marks)('%s has the marks between which %s is written', (path, name) => {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const written = replaceBlock(text, name, 'A FIGURE')
  expect(written).toContain(`<!-- bench:${name} -->A FIGURE<!-- /bench:${name} -->`)
  expect(written.split(`bench:${name} -->`).length).toBe(3)
})

test('a measured figure in a document is replaced, and nothing around it', () => {
  const before = 'It costs <!-- bench:cost -->$1<!-- /bench:cost --> a day.'
  expect(replaceBlock(before, 'cost', '$2')).toBe('It costs <!-- bench:cost -->$2<!-- /bench:cost --> a day.')
  expect(replaceBlock(before, 'cost', 'a\nb')).toBe(
    'It costs <!-- bench:cost -->\n\na\nb\n\n<!-- /bench:cost --> a day.',
  )
})

test('a measured figure is not written into a document without marks for it', () => {
  expect(() => replaceBlock('It costs a lot.', 'cost', '$2')).toThrow('There are no marks <!-- bench:cost -->')
})
