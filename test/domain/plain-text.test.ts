import { expect, test } from '@jest/globals'
import {
  isPlainLine,
  plainJson,
  plainLine,
  plainOutput,
  plainText,
  plainValue,
} from '../../layers/gateway/domain/basics/plain-text.ts'
import { HARMFUL, UNSEEN, UNSEEN_KINDS } from '../support/unseen.ts'

test.each(Object.entries(UNSEEN_KINDS))(
  '%s is shown as a sign in its place, and the words beside it stay',
  (_, unseen) => {
    const text = `before${unseen}after`
    expect(plainText(text)).not.toMatch(HARMFUL)
    expect(plainText(text)).toMatch(/^before.*\uFFFD.*after$/s)
    expect([isPlainLine(text), isPlainLine('before after')]).toEqual([false, true])
  },
)

test('words of every script, emoji of several parts, and line ends of either kind stay as they are', () => {
  for (const text of ['Ünïcödé', 'שלום עולם', 'می‌خواهم', '日本語', '👨‍👩‍👧 ❤️ 🏳️‍🌈', 'a\tb\nc\r\nd', '']) {
    expect(plainText(text)).toBe(text)
  }
})

test('a text for one line has no line end, and no more characters than it may', () => {
  expect(plainLine('a\nb\r\nc\td')).toBe('a b c d')
  expect(plainLine('x'.repeat(300), 5)).toBe('xxxxx…')
  expect(plainLine('xxxx😀', 5)).toBe('xxxx\uFFFD…')
  expect(isPlainLine('two\nlines')).toBe(false)
})

test('JSON holds the same data when everything unseen in it is an escape', () => {
  const value = { [UNSEEN]: [UNSEEN, { 'naïve 😀': 'a\nb' }] }
  for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
    expect(plainJson(json)).not.toMatch(HARMFUL)
    expect(JSON.parse(plainJson(json))).toEqual(value)
  }
})

test('a value has plain texts and names at every depth, and is otherwise the same', () => {
  const plain = plainValue({ [`a${UNSEEN}`]: [`b${UNSEEN}`, 1, null, true, { c: 'd' }] })
  expect(JSON.stringify(plain)).not.toMatch(HARMFUL)
  expect(Object.values(plain as object)[0]).toEqual([expect.stringMatching(/^b/), 1, null, true, { c: 'd' }])
})

test('both kinds of lines for people are plain', () => {
  const lines: string[] = []
  const print = (text: string) => lines.push(text)
  const out = plainOutput({ log: print, error: print })
  out.log(UNSEEN)
  out.error(UNSEEN)
  expect(lines).toHaveLength(2)
  expect(lines.join()).not.toMatch(HARMFUL)
})

test('a text of a million unseen characters is made plain in time that grows with its length alone', () => {
  const took = (length: number) => {
    const text = '\u001b\r\u200d'.repeat(length / 3)
    const startedMs = performance.now()
    plainLine(text)
    return performance.now() - startedMs
  }
  took(100_000)
  expect(took(1_000_000)).toBeLessThan(2_000)
})
