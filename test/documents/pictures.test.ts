import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { fileOf, PICTURED, PICTURES, README_PICTURES } from '../console/support/pictured.ts'
import { ROOT, readDocument } from './support/markdown.ts'

const FOLDER = join(ROOT, 'docs/pictures')
const NAMES = Object.keys(PICTURED)
const PAGES = PICTURES.map(fileOf)

const read = (file: string) => readFileSync(join(FOLDER, file))
const sizeOf = (file: string) => statSync(join(FOLDER, file)).size

test('every page of the console has its pictures in docs/console.md, at three widths, in light and in dark, and none is left over', () => {
  const sources = ['traffic', 'customers', 'details', 'setup', 'billing'].map((group) =>
    readFileSync(join(ROOT, `console/pages/${group}.tsx`), 'utf8'),
  )
  const groups = sources.map((source) => /export const PAGES = \{[^}]*\}/.exec(source)?.[0])
  const pages = [...groups.join('').matchAll(/: (\w+)/g)].map(([, name = '']) => name.replace(/Page$/, ''))
  expect(NAMES.toSorted()).toEqual([...pages.map((name) => name.toLowerCase()), 'editor'].sort())
  expect(readdirSync(FOLDER).sort()).toEqual([...PAGES, ...Object.values(README_PICTURES)].sort())
  const shown = readDocument('docs/console.md')
  expect(PAGES.filter((file) => !shown.includes(`pictures/${file}`))).toEqual([])
})

test('the pictures of the pages are WebP, and together smaller than 2.4 MB', () => {
  for (const file of PAGES) expect([file, read(file).toString('latin1', 8, 12)]).toEqual([file, 'WEBP'])
  expect(PAGES.reduce((sum, file) => sum + sizeOf(file), 0)).toBeLessThan(2_400_000)
})

test('the README shows the race as a GIF that loops and the console as a PNG, and neither is slow to load', () => {
  const { race, console } = README_PICTURES
  const readme = readDocument('README.md')
  for (const file of [race, console]) expect(readme).toContain(`docs/pictures/${file}`)
  expect(read(race).toString('latin1', 0, 6)).toBe('GIF89a')
  expect(read(race).includes('NETSCAPE2.0')).toBe(true)
  expect(sizeOf(race)).toBeLessThan(1_200_000)
  expect(read(console).toString('latin1', 1, 4)).toBe('PNG')
  expect(sizeOf(console)).toBeLessThan(150_000)
})
