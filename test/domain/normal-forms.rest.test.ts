import { expect, test } from '@jest/globals'
import { gainedBytes } from '../../layers/gateway/domain/basics/normal-forms.ts'
import { Random } from '../simulation/random.ts'

const FORMS = ['NFC', 'NFKC'] as const
const gained = (text: string) =>
  Math.max(...FORMS.map((form) => Buffer.byteLength(text.normalize(form)) - Buffer.byteLength(text)))

const characters = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))

test('no character becomes longer in a normal form than is held for it', () => {
  const short = characters.filter((char) => gained(char) > gainedBytes(char))
  expect(short).toEqual([])
  expect([gainedBytes('\u0958'), gainedBytes('\ufdfa'), gainedBytes('\u{1d160}')]).toEqual([3, 30, 8])
})

test('no letter with marks becomes longer in a normal form than is held for it', () => {
  const random = new Random(5)
  const letters = characters.filter((char) => char.normalize('NFKD') !== char)
  const latin = letters.filter((char) => char < '\u2000')
  const marks = characters.filter((char) => /\p{M}/u.test(char))
  const usual = marks.filter((char) => char < '\u0370')
  const few = (most: number, pick: () => string) => Array.from({ length: random.below(most) }, pick).join('')
  const mark = () => random.pick(random.chance(0.9) ? usual : marks)
  for (let i = 0; i < 200_000; i++) {
    const text = few(4, () => random.pick(random.chance(0.7) ? latin : letters) + few(5, mark))
    if (gained(text) > gainedBytes(text)) expect(text).toBe('covered')
  }
})

test('a text of any length in ASCII, Chinese, Korean and emoji gains nothing', () => {
  for (const text of ['wombat', '漢字', '한국어', 'žluťoučký', '👍']) {
    expect([gainedBytes(text), gainedBytes(text.repeat(1_000))]).toEqual([0, 0])
  }
})
