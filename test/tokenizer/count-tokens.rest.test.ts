import { expect, test } from '@jest/globals'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { countTokens } from '../../layers/tokenizer/count-tokens.ts'
import { someOf } from '../support/some-of.ts'

const plain = new Tiktoken(o200k)
const exact = (text: string) => plain.encode(text, [], []).length

test.each([
  'Hello, world!',
  'The quick brown fox jumps over the lazy dog. It was 1984!\n\n- one\n- two',
  'const x = { a: [1, 2, 3], b: "c" } // done',
  'Съешь же ещё этих мягких французских булок',
  '<|endoftext|> is text like any other',
  'Great 👍🏽 job 🎉 team 👨‍👩‍👧',
  '',
])('the token count equals o200k’s for %j', (text) => {
  expect(countTokens(text)).toBe(exact(text))
})

test('the token count of long English prose is within 1 % of o200k’s', () => {
  const prose = 'It is a truth universally acknowledged, that a reader of 42 tests wants them short. '.repeat(3000)
  expect(Math.abs(countTokens(prose) / exact(prose) - 1)).toBeLessThan(0.01)
})

test.each([
  ['its beginning', (cheap: string, dear: string) => cheap + dear],
  ['its end', (cheap: string, dear: string) => dear + cheap],
  ['its middle', (cheap: string, dear: string) => dear.slice(0, dear.length / 2) + cheap + dear.slice(dear.length / 2)],
])('the token count of a long text is right even if %s is only spaces', (_, build) => {
  const text = build(' '.repeat(400_000), 'žluťoučký kůň 漢字 '.repeat(20_000))
  const dear = exact('žluťoučký kůň 漢字 '.repeat(200)) * 100
  expect(countTokens(text) / dear).toBeGreaterThan(0.85)
  expect(countTokens(text) / dear).toBeLessThan(1.2)
})

test.each(
  someOf(
    [
      ['one letter', 'a'.repeat(100 * 1024)],
      ['one ideograph', '漢'.repeat(100 * 1024)],
      ['spaces', ' '.repeat(100 * 1024)],
      ['line ends', '\n'.repeat(100 * 1024)],
      ['punctuation', '!?'.repeat(50 * 1024)],
      ['emoji', '👨‍👩‍👧'.repeat(10 * 1024)],
    ] as const,
    3,
  ),
)('the token count of 100 KB of %s takes less than 10 seconds of processor time', (_, text) => {
  const before = process.cpuUsage()
  const tokens = countTokens(text)
  const spentMs = process.cpuUsage(before).user / 1000
  expect(tokens).toBeGreaterThan(1000)
  expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(text))
  // Uncut, 16 KB of one letter take 41 s: this bound finds such a fault, not a slow machine.
  expect(spentMs).toBeLessThan(10_000)
})
