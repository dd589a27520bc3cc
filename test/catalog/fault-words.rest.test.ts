import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { SETTING_NAMES } from '../../infra/setting-table.ts'
import { settingsFaults } from '../../infra/settings.ts'
import { FAULT_WORDS } from '../../layers/catalog/fault-words.ts'
import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'

const EXAMPLES = ['anthropic-and-bedrock', 'local-models', 'openai-with-fallback'].map((name) =>
  JSON.parse(readFileSync(new URL(`../../examples/${name}.json`, import.meta.url), 'utf8')),
)
const WRONG = [null, true, 7, -1, 1.5, 1e300, '', 'x', 'x'.repeat(5000), [], [null], {}, { unheard: 1 }]
/** The words of the library itself. */
const THEIRS = /\b(Invalid|Unrecognized|Too (small|big)|expected|received)\b/

function wordsFor(schema: z.ZodType, value: unknown): string | undefined {
  return schema.safeParse(value, FAULT_WORDS).error?.issues[0]?.message
}

describe('a fault in a file of the operator', () => {
  test.each([
    [z.int(), '9', "must be a number, but got the string '9'"],
    [z.int(), 1.5, 'must be a whole number, but got 1.5'],
    [z.int().min(1), undefined, 'must be a number, but it is missing'],
    [z.int().max(5), 6, 'must be at most 5, but got 6'],
    [z.number().positive(), 0, 'must be more than 0, but got 0'],
    [z.boolean(), 'yes', 'must be true or false, but got a string of 3 characters'],
    [z.enum(['a', 'b']), 'c', 'must be "a" or "b", but got \'c\''],
    [z.enum(['off', 'count']), 'cuont', 'must be "off" or "count", but got \'cuont\'; did you mean \'count\'?'],
    [z.enum(['a', 'b']), `sk-${'x'.repeat(40)}`, 'must be "a" or "b", but got a string of 43 characters'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().max(2), 'abc', 'must have at most 2 characters'],
    [z.array(z.int()).max(1), [1, 2], 'must have at most 1 elements'],
    [z.email(), 'me', 'must be an email address, but got a string of 2 characters'],
    [
      z.strictObject({ weight: z.int().optional() }),
      { wieght: 1 },
      "there is no field 'wieght' here; did you mean 'weight'?",
    ],
    [z.strictObject({ weight: z.int().optional() }), { x: 1 }, "there is no field 'x' here (there are: weight)"],
    [z.string('must be mine'), 7, 'must be mine'],
  ] as const)('%#: says what must be there, and what is', (schema, value, words) => {
    expect(wordsFor(schema, value)).toBe(words)
  })

  test('is told in few words, however many names are wrong', () => {
    const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`wieght_${i}`, 1]))
    const words = wordsFor(z.strictObject({ weight: z.int().optional() }), body) ?? ''
    expect(words).toMatch(/^there is no field 'wieght_0' here.*; and so with 49995 more$/)
    expect(words.length).toBeLessThan(1000)
  })

  test('is told in our words, wherever it is in a catalog', () => {
    const told = EXAMPLES.flatMap((example) =>
      placesIn(example).flatMap((path) => WRONG.map((wrong) => put(example, path, wrong))),
    )
      .map((catalog) => parseCatalog(catalog))
      .flatMap((parsed) => ('faults' in parsed ? parsed.faults : []))
    expect(told.length).toBeGreaterThan(2000)
    expect(told.filter((fault) => THEIRS.test(fault))).toEqual([])
  })

  test('is told in our words, wherever it is in the settings of a stage', () => {
    const told = SETTING_NAMES.flatMap((name) =>
      WRONG.flatMap((wrong) => settingsFaults('prod', { [name]: wrong }, () => false)),
    )
    expect(told.length).toBeGreaterThan(SETTING_NAMES.length)
    expect(told.filter((fault) => THEIRS.test(fault))).toEqual([])
  })
})

type Path = readonly string[]

function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...path, name]))]
}

function put(value: unknown, [name, ...rest]: Path, wrong: unknown): unknown {
  if (name === undefined) return wrong
  const copy: Record<string, unknown> = Object.assign(Array.isArray(value) ? [] : {}, value)
  copy[name] = put(copy[name], rest, wrong)
  return copy
}
