import { expect, test } from '@jest/globals'
import { DOCUMENTS, headingsOf, readDocument } from './support/markdown.ts'

/** Beyond these lines a reader does not see the whole document at once. */
const LONG = 150

const longOnes = DOCUMENTS.filter((path) => path.startsWith('docs/') && readDocument(path).split('\n').length > LONG)

test.each(longOnes)('%s begins with its table of contents, which has its sections in their order', (path) => {
  const [beginning = ''] = readDocument(path).split(/^## /m)
  const sections = headingsOf(path).filter(({ level }) => level === 2)
  const contents = sections.map(({ text, anchor }) => `[${text}](#${anchor})`).join(' · ')
  expect(beginning.split('\n').filter((line) => line.includes('](#') && line.includes(' · '))).toEqual([contents])
})

test('operators find support questions, their week and alarms before everything else', () => {
  const sections = headingsOf('docs/operate.md').filter(({ level }) => level === 2)
  expect(sections.slice(0, 3).map(({ text }) => text)).toEqual(['Support questions', "The operator's week", 'On call'])
})
