import { globSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'

/** `this.x = () => …`, `this.#x ??= async function …`: with a name in between, or as an argument, it would be none. */
const ASSIGNED_LITERAL = /[\w\])]\.#?\w+ (?:\?\?|\|\||&&)?= (?:async )?(?:function\b|(?:\([^()]*\)|\w+)(?:: [^=]+)? =>)/

test.each([
  ['this.#abort = () => exchange.end(signal.reason)', true],
  ['state.onwrite ??= async function () {}', true],
  ['this.#wake = nobody', false],
  ['this.#idle = setTimeout(() => this.#giveUp(), 5)', false],
  ['const abort = () => exchange.end()', false],
])('the pattern of function literals that are assigned to a property knows %s', (line, isOne) => {
  expect(ASSIGNED_LITERAL.test(line)).toBe(isOne)
})

test('no function literal is assigned to a property on the way of a request: V8 would keep it, and the request that it reaches, until a full collection', () => {
  const found = globSync(['layers/gateway/**/*.ts', 'functions/chat/*.ts', 'functions/*.ts']).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) => (ASSIGNED_LITERAL.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  )
  expect(found).toEqual([])
})
