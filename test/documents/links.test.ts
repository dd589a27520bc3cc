import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DOCUMENTS, headingsOf, proseOf, ROOT, readDocument } from './support/markdown.ts'

const FOLDERS = /^(bench|cli|console|docs|examples|functions|infra|layers|local|test)\//
/** Names with placeholders and the operator's own file, which are no files of the repository. */
const NOT_KEPT = /[<>*{}]|…|^infra\/settings\.json$/

test.each(DOCUMENTS)('every link and picture in %s leads to an existing file and heading', (path) => {
  const broken = linksOf(path).filter((target) => !/^https?:/.test(target) && !isThere(path, target))
  expect(broken).toEqual([])
})

test.each(DOCUMENTS)('every file and folder that %s names exists', (path) => {
  const named = [...proseOf(path).matchAll(/`([^`\s]+)`/g)].map(([, text = '']) => text)
  const missing = named.filter((text) => FOLDERS.test(text) && !NOT_KEPT.test(text) && !isKept(text))
  expect(missing).toEqual([])
})

test('a file that a recipe names without a folder is beside the path before it', () => {
  const [, recipes = ''] = proseOf('docs/development.md').split('\n## Recipes\n')
  const named = [...recipes.matchAll(/`([^`\s]+)`/g)].map(([, text = '']) => text)
  const missing: string[] = []
  let folder = ''
  for (const text of named) {
    if (FOLDERS.test(text)) folder = text.endsWith('/') ? text : `${dirname(text)}/`
    else if (/^[\w.-]+\.tsx?$/.test(text) && !existsSync(join(ROOT, folder, text))) missing.push(folder + text)
  }
  expect(missing).toEqual([])
})

test('README.md links to every document', () => {
  const readme = readDocument('README.md')
  const unlinked = DOCUMENTS.filter(
    (path) => path !== 'README.md' && !/decisions\/\d/.test(path) && !readme.includes(`(${path})`),
  )
  expect(unlinked).toEqual([])
})

test('llms.txt links to every document with a line about it, and to nothing that is not there', () => {
  const lines = readFileSync(join(ROOT, 'llms.txt'), 'utf8').split('\n')
  expect(lines[0]).toBe('# Waybill')
  expect(lines[2]).toMatch(/^> \S/)
  const linked = lines.flatMap((line) => /^- \[[^\]]+\]\(([^)]+)\): \S/.exec(line)?.[1] ?? [])
  expect(linked).toHaveLength(lines.filter((line) => line.includes('](')).length)
  expect(linked.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  expect(DOCUMENTS.filter((path) => !/decisions\/\d/.test(path) && !linked.includes(path))).toEqual([])
})

test('the list of decisions links to every decision, and each states its context, choice and cost', () => {
  const list = readDocument('docs/decisions/README.md')
  const decisions = DOCUMENTS.filter((path) => /decisions\/\d/.test(path))
  expect(decisions.filter((path) => !list.includes(`(${path.slice('docs/decisions/'.length)})`))).toEqual([])
  for (const path of decisions)
    expect(readDocument(path)).toMatch(/^# \d+\. .*\*\*Context\.\*\* .*\*\*Choice\.\*\* .*\*\*Cost\.\*\* /s)
})

/** An empty folder, as a move leaves it behind, is not in a clone. */
function isKept(path: string): boolean {
  const whole = join(ROOT, path)
  return existsSync(whole) && (!statSync(whole).isDirectory() || readdirSync(whole).length > 0)
}

/** The targets of links and pictures, in Markdown's forms and in HTML's. */
function linksOf(path: string): string[] {
  const forms = /\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)|\b(?:src|href|srcset)="([^"\s]+)"/gm
  return Array.from(proseOf(path).matchAll(forms), ([, inline, defined, html]) => inline ?? defined ?? html ?? '')
}

function isThere(from: string, target: string): boolean {
  const [file = '', heading] = target.split('#')
  const path = file === '' ? from : join(dirname(from), file)
  if (!existsSync(join(ROOT, path))) return false
  return heading === undefined || headingsOf(path).some(({ anchor }) => anchor === heading)
}
