import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { readSeed } from '../../infra/settings.ts'
import { blocksOf, readDocument } from '../documents/support/markdown.ts'
import { emptyFolder } from '../support/processes.ts'
import { FLAGS, WRONG_SETTINGS } from './fixtures/wrong-settings.ts'
import { type Facts, readFacts } from './support/synthesized.ts'

let facts: Facts
beforeAll(async () => {
  facts = await readFacts()
}, 480_000)

test.each(WRONG_SETTINGS.map(([text, said], index) => ({ text, said, index })))(
  'the settings $text are refused, and the message says what is wrong with them',
  ({ said, index }) => {
    expect(facts.refusedSettings[index]).toContain(said)
  },
)

test.each(FLAGS.map((flag, index) => ({ flag, index })))(
  'the flag -c $flag is refused, because the next deployment would forget it, and the message says where it is set',
  ({ flag, index }) => {
    expect(facts.refusedFlags[index]).toContain(`set "${flag}" in infra/settings.json`)
  },
)

test('docs/deploy.md has a row for each setting, with what it is in dev and in prod, in the words of the table', () => {
  const shown = (value: unknown) => (value === undefined || value === null ? 'none' : String(value))
  const rows = facts.settings.map(
    ({ name, dev, prod, words }) => `| \`${name}\` | ${shown(dev)} | ${shown(prod)} | ${words} |`,
  )
  const [, table = ''] = readDocument('docs/deploy.md').split('| setting | `dev` | `prod` | |\n|---|---|---|---|\n')
  expect(table.split('\n\n')[0]?.split('\n')).toEqual(rows)
})

test('the settings that the documents show are accepted', () => {
  for (const path of ['docs/deploy.md', 'docs/disaster-recovery.md'])
    expect(blocksOf(path, 'json').length).toBeGreaterThan(0)
  expect(facts.documentedSettings).toBeNull()
})

test('a catalog that somebody names is found from where they are, and the seed wherever that is', () => {
  const [folder, before, seed] = [emptyFolder(), process.cwd(), readSeed()]
  cpSync('examples/openai-with-fallback.json', join(folder, 'mine.json'))
  process.chdir(folder)
  try {
    expect(readSeed('mine.json').catalog.models.length).toBeGreaterThan(0)
    expect(readSeed()).toEqual(seed)
    expect(() => readSeed('other.json')).toThrow(`There is no ${join(process.cwd(), 'other.json')}`)
  } finally {
    process.chdir(before)
  }
})
