import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { PICTURED, pictureOf } from '../console/support/pictured.ts'
import { ROOT, readDocument } from './support/markdown.ts'

const FOLDER = join(ROOT, 'docs/pictures')
const NAMES = Object.keys(PICTURED)

test('every page of the console has its picture in docs/operate.md, in light and in dark, and no picture is left over', () => {
  const source = readFileSync(join(ROOT, 'console/page-of.tsx'), 'utf8')
  const pages = [...source.matchAll(/<(\w+) key=/g)].map(([, name = '']) => name.replace(/Page$/, '').toLowerCase())
  expect(NAMES.toSorted()).toEqual(pages.filter((name) => name !== 'notfound').sort())
  const pictures = NAMES.flatMap((name) => [pictureOf(name, 'light'), pictureOf(name, 'dark')])
  expect(readdirSync(FOLDER).sort()).toEqual(pictures.toSorted())
  const shown = readDocument('docs/operate.md')
  expect(pictures.filter((file) => !shown.includes(`pictures/${file}`))).toEqual([])
})

test('the pictures are WebP, and together smaller than 600 KB', () => {
  const files = readdirSync(FOLDER).map((file) => join(FOLDER, file))
  for (const file of files) expect([file, readFileSync(file).toString('latin1', 8, 12)]).toEqual([file, 'WEBP'])
  expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(600_000)
})
