import { expect, test } from '@jest/globals'
import { mayUseModel } from '../../layers/gateway/domain/admission/access.ts'
import { matchesPattern } from '../../layers/gateway/domain/admission/matches-pattern.ts'
import { Random } from '../simulation/random.ts'

test.each([
  ['gpt-4o', 'gpt-4o', true],
  ['gpt-4o', 'gpt-4o-mini', false],
  ['gpt-4o', 'GPT-4o', false],
  ['claude-*', 'claude-', true],
  ['claude-*', 'anthropic/claude-3', false],
  ['*', 'anything', true],
  ['*-mini', 'gpt-4o-mini', true],
  ['*-mini', 'gpt-4o-mini-2', false],
  ['gpt.4*', 'gpt-4o', false],
])('the pattern %s and the id %s: %s', (pattern, id, isMatch) => {
  expect(matchesPattern(pattern, id)).toBe(isMatch)
})

test('a key without a list may use every model, and one with a list those that a line of it matches', () => {
  expect(mayUseModel({ models: [] }, 'a')).toBe(true)
  expect(mayUseModel({ models: ['b', 'a*'] }, 'a1')).toBe(true)
  expect(mayUseModel({ models: ['b', 'a'] }, 'a1')).toBe(false)
})

test('patterns match as a regular expression of the same meaning does, in 20,000 made-up cases', () => {
  const random = new Random(1)
  const text = (letters: string[], most: number) =>
    Array.from({ length: random.below(most) }, () => random.pick(letters)).join('')
  for (let i = 0; i < 20_000; i++) {
    const [pattern, id] = [text(['a', 'b', '*'], 7), text(['a', 'b'], 9)]
    const isMatch = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(id)
    if (matchesPattern(pattern, id) !== isMatch) throw new Error(`'${pattern}' and '${id}' should be ${isMatch}`)
  }
})

test('50 patterns that no regular expression gets through are tried 100 times on a long id within two seconds', () => {
  const worst = [
    '*'.repeat(200),
    `${'a*'.repeat(99)}b`,
    `*${'a'.repeat(98)}b*${'a'.repeat(98)}b`,
    `${'*a'.repeat(99)}*b`,
  ]
  const models = Array.from({ length: 50 }, (_, i) => worst[1 + (i % 3)] as string)
  const startedMs = performance.now()
  for (let i = 0; i < 100; i++) expect(mayUseModel({ models }, 'a'.repeat(200))).toBe(false)
  expect(matchesPattern(worst[0] as string, 'a'.repeat(200))).toBe(true)
  expect(performance.now() - startedMs).toBeLessThan(2_000)
})
