import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { DOCUMENTS, replaceBlock } from '../../bench/documents.ts'
import { ROOT } from '../documents/support/markdown.ts'

describe('a figure in a document', () => {
  const marks = Object.entries(DOCUMENTS).flatMap(([path, names]) => names.map((name) => [path, name] as const))

  test.each(marks)('%s has the marks between which %s is written', (path, name) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const written = replaceBlock(text, name, 'A FIGURE')
    expect(written).toContain(`<!-- bench:${name} -->A FIGURE<!-- /bench:${name} -->`)
    expect(written.split(`bench:${name} -->`).length).toBe(3)
  })

  test('is replaced and nothing else is', () => {
    const before = 'It costs <!-- bench:cost -->$1<!-- /bench:cost --> a day.'
    expect(replaceBlock(before, 'cost', '$2')).toBe('It costs <!-- bench:cost -->$2<!-- /bench:cost --> a day.')
    expect(replaceBlock(before, 'cost', 'a\nb')).toBe(
      'It costs <!-- bench:cost -->\n\na\nb\n\n<!-- /bench:cost --> a day.',
    )
  })

  test('is not written where there are no marks for it', () => {
    expect(() => replaceBlock('It costs a lot.', 'cost', '$2')).toThrow('There are no marks <!-- bench:cost -->')
  })
})
