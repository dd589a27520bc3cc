import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from '@jest/globals'
import { ROOT, tableOf } from '../documents/support/markdown.ts'
import { emptyFolder } from '../support/processes.ts'
import { findFault, mayImport, roomOf } from './find-fault.ts'
import { readImports } from './read-imports.ts'
import { ROOMS } from './rooms.ts'

const { imports: ALIASES } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const IMPORTS = readImports(ROOT, ALIASES)

test('every import keeps to the table of rooms', () => {
  expect(IMPORTS.length).toBeGreaterThan(1000)
  expect(IMPORTS.flatMap((one) => findFault(one) ?? [])).toEqual([])
})

test('no file of the product imports itself by way of others', () => {
  let left = IMPORTS.filter(({ file }) => !file.startsWith('test/'))
  for (let before = Infinity; left.length < before; ) {
    before = left.length
    const importing = new Set(left.map(({ file }) => file))
    const imported = new Set(left.map(({ target }) => target))
    left = left.filter(({ file, target }) => importing.has(target) && imported.has(file))
  }
  expect(left.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
})

test('every row of the table has files', () => {
  const lived = new Set(IMPORTS.flatMap(({ file, target }) => [roomOf(file), roomOf(target)]))
  expect(Object.keys(ROOMS).filter((name) => !lived.has(name))).toEqual([])
})

test('the document has the rooms of the table, in its order, and what each may import', () => {
  const rows = [...Map.groupBy(Object.keys(ROOMS), (name) => ROOMS[name])]
  const wanted = rows.map(([room = {}, names]) => [names.join(', '), mayImport(room)])
  const written = tableOf('docs/development.md', '| room | holds | may import |')
  expect(written.map(([name, , imports]) => [name, imports])).toEqual(wanted)
})

test('an import is seen in every form, with its line', () => {
  const folder = emptyFolder()
  mkdirSync(join(folder, 'functions'))
  const code = [
    "import '../local/a.ts'",
    "import { b, type B } from '../local/b.ts'",
    "import type { C } from '../local/c.ts'",
    "import { type D } from '../local/d.ts'",
    "export { e } from '../local/e.ts'",
    "export type { F } from '../local/f.ts'",
    "export * from '#g'",
    "const h = await import('../local/h.ts')",
    "type I = import('../local/i.ts').I",
    "// import '../local/j.ts'",
    "const k = `import '../local/k.ts'`",
  ]
  writeFileSync(join(folder, 'functions/x.ts'), code.join('\n'))
  writeFileSync(join(folder, 'functions/y.cjs'), "const { l } = require('../local/l.ts')")
  writeFileSync(
    join(folder, 'functions/z.tsx'),
    "import '../local/m.ts'\nexport const z = <p>import '../local/n.ts'</p>",
  )
  const found = readImports(folder, { '#g': './local/g.ts' })
  rmSync(folder, { recursive: true })
  const seen = found.map(({ line, target, isType }) => `${line} ${posix.basename(target)}${isType ? ' type' : ''}`)
  expect(seen.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).join(', ')).toBe(
    '1 a.ts, 1 l.ts, 1 m.ts, 2 b.ts, 3 c.ts type, 4 d.ts, 5 e.ts, 6 f.ts type, 7 g.ts, 8 h.ts, 9 i.ts type',
  )
})

const refusedOf = (file: string, target: string, isType = false) =>
  findFault({ file, line: 3, specifier: target, target, isType }) !== undefined

const G = 'layers/gateway'

test.each([
  [`${G}/domain/money/x.ts`, [`${G}/wire/x.ts`, `${G}/platform/config.ts`, 'zod', 'node:fs']],
  [`${G}/wire/chat/x.ts`, [`${G}/store/x.ts`, `${G}/flow/x.ts`]],
  [`${G}/store/keys/x.ts`, [`${G}/wire/x.ts`, `${G}/flow/x.ts`, '@aws-sdk/client-dynamodb']],
  [`${G}/contracts/chat/x.ts`, [`${G}/contracts/messages/x.ts`, `${G}/providers/openai/x.ts`]],
  [`${G}/providers/openai/x.ts`, [`${G}/providers/anthropic/x.ts`, `${G}/store/x.ts`, `${G}/contracts/chat/x.ts`]],
  [`${G}/flow/billing/x.ts`, [`${G}/store/x.ts`, `${G}/middleware/x.ts`, `${G}/providers/http/x.ts`]],
  [`${G}/middleware/x.ts`, [`${G}/store/x.ts`, 'functions/gates.ts']],
  ['functions/chat/x.ts', ['layers/admin/api/handle.ts', 'cli/main.ts', 'local/server.ts']],
  ['infra/x.ts', [`${G}/store/x.ts`, 'functions/gates.ts', 'cli/main.ts', 'local/server.ts']],
  ['cli/commands/x.ts', [`${G}/store/keys/x.ts`, 'functions/gates.ts', 'local/server.ts', '@middy/core']],
  ['console/pages/x.tsx', [`${G}/wire/x.ts`, 'layers/admin/api/keys.ts', 'node:fs', 'preact/compat']],
  ['local/x.ts', ['infra/app.ts', 'console/app.tsx', 'test/all.ts']],
  ['added/x.ts', ['zod']],
])('%s may not import what is not in its row', (file, targets) => {
  expect(targets.filter((target) => !refusedOf(file, target))).toEqual([])
})

test('types may be taken where the row says so, and values not', () => {
  const provider = `${G}/providers/provider.ts`
  expect([true, false].map((isType) => refusedOf(`${G}/flow/routing/x.ts`, provider, isType))).toEqual([false, true])
  const file = `${G}/flow/routing/x.ts`
  expect(findFault({ file, line: 3, specifier: '../p.ts', target: provider, isType: false })).toBe(
    `${file}:3 imports '../p.ts', but flow/** takes nothing but types from there (test/rooms/rooms.ts).`,
  )
})

test('the document has at most 25 rows of rooms', () => {
  expect(tableOf('docs/development.md', '| room | holds | may import |').length).toBeLessThanOrEqual(25)
})
