import { expect, test } from '@jest/globals'
import { jsonFault } from '../../layers/gateway/domain/basics/json-fault.ts'
import { Random } from '../simulation/random.ts'
import { someTimes } from '../support/some-of.ts'

test.each<[string, string, RegExp]>([
  [
    'a trailing comma in an object',
    '{\n  "a": 1,\n}',
    /^line 3, column 1 has '}' .* The comma before it does not belong$/,
  ],
  ['a trailing comma in a list', '[1,]', /^line 1, column 4 has '\]' .* The comma before it does not belong$/],
  ['a single quote', "{'a':1}", /^line 1, column 2 has a single quote .* straight double quotes only$/],
  ['a typographic quote', '{"a":“x”}', /^line 1, column 6 has the character U\+201C .* straight double quotes only$/],
  ['a name without quotes', '{a:1}', /^line 1, column 2 has a letter .* A name needs double quotes/],
  ['a text without quotes', '{"a":echo}', /^line 1, column 6 has a letter where a value is needed\. A text needs/],
  ['Python’s words', '{"a": True}', /^line 1, column 7 .* JSON has no True/],
  ['a comment', '{"a":1, // why\n}', /^line 1, column 9 has '\/' .* JSON has no comments$/],
  ['a missing comma', '{"a":1 "b":2}', /^line 1, column 8 has a string where a comma or a closing bracket is needed$/],
  ['a missing colon', '{"a" 1}', /^line 1, column 6 has a digit where ':' is needed$/],
  ['the wrong bracket', '{"a":1]', /^line 1, column 7 has '\]' where a comma or a closing bracket is needed$/],
  ['a line break in a string', '{"a":"x\ny"}', /^line 1, column 8 has a line break, .* inside a string$/],
  ['a path of Windows', '{"a":"C:\\dir"}', /^line 1, column 9 has a backslash .* Write it twice$/],
  [
    'an open string',
    '{"a":"x',
    /^line 1, column 8 ends inside a string: it was cut off, or a double quote is missing$/,
  ],
  ['an open list', '{"a":[1', /^line 1, column 8 ends where .*, with 2 brackets still open: it was cut off$/],
  ['two values', '{}{}', /^line 1, column 3 has '\{' where the body should have ended\. Send one JSON object$/],
  ['a byte order mark', '\uFEFF{}', /byte order mark/],
  ['form data', 'model=echo&x=1', /looks like form data: send JSON$/],
  ['multipart form data', '--x\r\nContent-Disposition: form-data', /looks like multipart form data/],
  ['a page', '<!doctype html>', /looks like HTML or XML/],
  ['an object of JavaScript', '[object Object]', /without JSON\.stringify$/],
  ['the name of a file', '@body.json', /--data @FILE$/],
])('%s is told by its place and its kind', (_, text, says) => {
  expect(jsonFault(text)).toMatch(says)
})

const PIECES = [...'{}[],:"a10-.e\\nu \n\'', 'true', 'null', '"a"', '"b":', '\\u00e9', '1.5e3', '\u0001']

test('a fault is found in every text that JSON.parse refuses, and in no other', () => {
  const random = new Random(1)
  let valid = 0
  for (let i = 0; i < someTimes(10_000, 100_000); i++) {
    const text = Array.from({ length: 1 + random.below(9) }, () => random.pick(PIECES)).join('')
    const isValid = parses(text)
    if (isValid) valid += 1
    expect([text, jsonFault(text) === undefined]).toEqual([text, isValid])
  }
  expect(valid).toBeGreaterThan(100)
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test.each([
  ['brackets', '['.repeat(4_000_000)],
  ['numbers', `[${'1,'.repeat(2_000_000)}`],
  ['escapes', `["${'\\n'.repeat(2_000_000)}`],
  ['lines', `${'\n'.repeat(4_000_000)}x`],
  ['one text', `["${'x'.repeat(4_000_000)}`],
])('a body of 4 MB of %s is read once', (_, text) => {
  const startMs = performance.now()
  expect(jsonFault(text)).toMatch(/^line \d+, column \d+ /)
  expect(performance.now() - startMs).toBeLessThan(5_000)
})

test('no word of the text is told', () => {
  const prompt = 'ZEBRA'
  for (let cut = 1; cut < 60; cut++) {
    const text = `{"model":"${prompt}","messages":[{"role":"user","content":"${prompt}\\n"}]}`
    for (const broken of [text.slice(0, cut), text.slice(cut), `${text.slice(0, cut)}${prompt}${text.slice(cut)}`]) {
      expect(jsonFault(broken) ?? '').not.toContain(prompt)
    }
  }
})
