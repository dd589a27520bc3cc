import { expect, test } from '@jest/globals'
import { TextSample } from '../../layers/gateway/flow/answering/tally.ts'

const letters = (text: string, letter: string) => text.split(letter).length - 1

function sampled(pieces: Iterable<string>): TextSample {
  const sample = new TextSample()
  for (const piece of pieces) sample.add(piece)
  return sample
}

test('a text of up to 64 Ki characters is counted whole', () => {
  const text = 'ab'.repeat(32 * 1024)
  expect(sampled(text.match(/.{1,7}/g) ?? []).kept === text).toBe(true)
})

test('a text of more than 64 Ki characters is sampled over its whole length, in bounded memory', () => {
  for (const dense of [0, 500, 999]) {
    const pieces = Array.from({ length: 1_000 }, (_, i) => (Math.abs(i - dense) < 250 ? 'x' : '-').repeat(5_000))
    const sample = sampled(pieces)
    const exact = letters(pieces.join(''), 'x')
    const count = (letters(sample.kept, 'x') * sample.chars) / sample.kept.length
    expect(sample.chars).toBe(5_000_000)
    expect(sample.kept.length).toBeLessThanOrEqual(64 * 1024 + 2 * 1024)
    expect(Math.abs(count / exact - 1)).toBeLessThan(0.15)
  }
})
