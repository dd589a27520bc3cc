import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { Tiktoken } from 'js-tiktoken/lite'
import cl100k from 'js-tiktoken/ranks/cl100k_base'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { hasMoreTokens, LeastTokens } from '../../layers/gateway/domain/money/least-tokens.ts'
import { LANGUAGES } from '../support/languages.ts'
import { someOf } from '../support/some-of.ts'

const ENCODINGS = { o200k: new Tiktoken(o200k), cl100k: new Tiktoken(cl100k) }
const SIZES = { o200k: 199_998, cl100k: 100_256 }
type Encoding = keyof typeof ENCODINGS

const countIn = (encoding: Encoding, text: string) => ENCODINGS[encoding].encode(text, [], []).length

/** The least count of a text, added in these pieces. */
function leastOf(text: string, pieces: readonly string[] = [text]): number {
  let [below, most] = [-1, text.length]
  while (most - below > 1) {
    const middle = Math.floor((below + most) / 2)
    const least = new LeastTokens()
    if (pieces.every((piece) => least.add(piece, middle) === piece.length)) most = middle
    else below = middle
  }
  return most
}

function inPieces(text: string, longest: number): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const size = 1 + Math.floor(Math.random() * longest)
    pieces.push(text.slice(at, at + size))
    at += size
  }
  return pieces
}

const CODE = globSync('{layers,cli,docs,console,infra}/**/*.{ts,md,json,css}')
  .toSorted()
  .filter((_, i) => i % 25 === 0)
  .map((path): [string, string] => [path, readFileSync(path, 'utf8').slice(0, 4_000)])

const TEXTS: readonly (readonly [string, string])[] = someOf<readonly [string, string]>(
  [
    ...Object.entries(LANGUAGES),
    ...CODE,
    ['base64', randomBytes(1_500).toString('base64')],
    ['hexadecimal', randomBytes(1_000).toString('hex')],
    ['a table', '| name | tokens |\n|------|--------|\n| a_b | 1,234.50 |\n'.repeat(20)],
    ['numbers', '1 2 3 10 200 3.14159 2026-11-16 1,000,000 '.repeat(20)],
    ['contractions', "don't I'm you've we'll it's they'd DON'T O'Neil's rock'n'roll ".repeat(20)],
    ['identifiers', 'translatesAutoresizingMaskIntoConstraints getElementById snake_case_name kebab-case '.repeat(20)],
    ['one letter', 'x'.repeat(3_000)],
    ['alphabets', 'abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ '.repeat(20)],
    ['spaces and line ends', ' '.repeat(1_000) + '\n'.repeat(500) + ' \n'.repeat(300)],
    ['rules', '-'.repeat(1_000) + '='.repeat(1_000) + ' * '.repeat(300)],
    ['thanks', 'ありがとうございました。'.repeat(20)],
  ],
  3,
)

test.each(Object.keys(ENCODINGS) as Encoding[])(
  'no token of %s counts as two, but for set phrases of scripts without spaces',
  (encoding) => {
    const above: string[] = []
    for (let rank = 0; rank < SIZES[encoding]; rank++) {
      const token = ENCODINGS[encoding].decode([rank])
      if (!token.includes('\ufffd') && hasMoreTokens(token, 1)) above.push(token)
    }
    expect(above.filter((token) => !/[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/.test(token))).toEqual([])
    // There are 200,000.
    expect(above.length).toBeLessThan(300)
  },
)

describe.each(Object.keys(ENCODINGS) as Encoding[])('%s', (encoding) => {
  test.each(TEXTS)('the least count of %s is not above the real one, whole and in pieces of any size', (_, text) => {
    const real = countIn(encoding, text)
    for (const pieces of [[text], [...text], text.split(''), ...[2, 5, 50].map((size) => inPieces(text, size))]) {
      expect(leastOf(text, pieces)).toBeLessThanOrEqual(real)
    }
  })

  test('the least count of tokens in any order is not above their number', () => {
    for (let round = 0; round < 2_000; round++) {
      const ranks = Array.from({ length: 12 }, () => Math.floor(Math.random() * SIZES[encoding]))
      const text = ENCODINGS[encoding].decode(ranks)
      if (/[\ufffd\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/.test(text)) continue
      expect(leastOf(text)).toBeLessThanOrEqual(countIn(encoding, text))
    }
  })
})

test('the least count of prose is at least three tenths of the real one, and of English four fifths', () => {
  const shareOf = (text: string) => leastOf(text) / countIn('o200k', text)
  const { English = '', emoji: _, Khmer: __, Burmese: ___, ...others } = LANGUAGES
  expect(shareOf(English)).toBeGreaterThan(0.8)
  for (const text of Object.values(others)) expect(shareOf(text)).toBeGreaterThan(0.3)
})

test('a text in pieces counts as it does whole', () => {
  for (const [, text] of TEXTS) expect(leastOf(text, inPieces(text, 7))).toBe(leastOf(text))
})

test('the characters that fit are told, and no character is cut in half', () => {
  expect(new LeastTokens().add('one two three', 2)).toBe('one two '.length)
  expect(new LeastTokens().add('👍👍👍👍', 1)).toBe('👍👍👍'.length)
  expect(new LeastTokens().add('', 0)).toBe(0)
})
