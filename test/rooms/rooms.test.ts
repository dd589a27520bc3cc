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
  expect(seen.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))).toEqual([
    '1 a.ts',
    '1 l.ts',
    '1 m.ts',
    '2 b.ts',
    '3 c.ts type',
    '4 d.ts',
    '5 e.ts',
    '6 f.ts type',
    '7 g.ts',
    '8 h.ts',
    '9 i.ts type',
  ])
})

const refusedOf = (file: string, target: string, isType = false) =>
  findFault({ file, line: 3, specifier: target, target, isType }) !== undefined

const G = 'layers/gateway'
const CONSOLE = ['console/app.tsx', 'console/build.ts']
const OUTSIDE = [
  'functions/gates.ts',
  'operator/main.ts',
  'local/server.ts',
  'infra/app.ts',
  'test/all.ts',
  'bench/row.ts',
  'catalog/parse-catalog.ts',
  ...CONSOLE,
]
const SDK = ['@aws-sdk/client-dynamodb', '@middy/core']
const gateway = (...names: string[]) => names.map((name) => `${G}/${name}/x.ts`)

test.each<[string, readonly string[]]>([
  [`${G}/contract.ts`, [...gateway('domain'), ...OUTSIDE, ...SDK, 'node:fs']],
  [
    `${G}/domain/x.ts`,
    [
      ...gateway('wire', 'store', 'providers', 'flow', 'middleware', 'contracts'),
      `${G}/config.ts`,
      ...OUTSIDE,
      ...SDK,
      'node:http',
      'node:fs',
      'node:timers/promises',
    ],
  ],
  [
    `${G}/http/x.ts`,
    [...gateway('domain', 'aws', 'providers/http'), `${G}/retry.ts`, ...OUTSIDE, ...SDK, 'node:http', 'node:https'],
  ],
  [
    `${G}/aws/x.ts`,
    [...gateway('domain', 'wire', 'store', 'providers', 'flow', 'middleware', 'contracts'), ...OUTSIDE, ...SDK],
  ],
  [`${G}/log/x.ts`, [...gateway('wire', 'store', 'providers', 'flow', 'middleware', 'contracts'), ...OUTSIDE, ...SDK]],
  [`${G}/wire/x.ts`, [...gateway('store', 'providers', 'flow', 'middleware', 'contracts'), ...OUTSIDE, ...SDK]],
  [`${G}/contracts/x.ts`, [...gateway('store', 'providers', 'flow', 'middleware'), ...OUTSIDE, ...SDK]],
  [
    `${G}/contracts/chat/x.ts`,
    [...gateway('contracts/messages', 'contracts/added', 'store', 'providers', 'flow'), ...OUTSIDE, ...SDK],
  ],
  [`${G}/store/x.ts`, [...gateway('wire', 'providers', 'flow', 'middleware', 'contracts'), ...OUTSIDE, ...SDK]],
  [
    `${G}/store/transact.ts`,
    [...gateway('wire', 'providers', 'flow', 'middleware', 'contracts'), ...OUTSIDE, '@middy/core'],
  ],
  [`${G}/providers/x.ts`, [...gateway('store', 'flow', 'middleware', 'contracts'), ...OUTSIDE, ...SDK]],
  [
    `${G}/providers/openai/x.ts`,
    [
      ...gateway('providers/anthropic', 'providers/added', 'providers/api-keys', 'store', 'flow', 'contracts'),
      ...OUTSIDE,
      ...SDK,
      '@aws-sdk/client-bedrock-runtime',
    ],
  ],
  [`${G}/providers/added/x.ts`, [...gateway('providers/openai', 'providers/bedrock', 'store'), ...OUTSIDE, ...SDK]],
  [
    `${G}/providers/bedrock/x.ts`,
    [...gateway('providers/openai', 'store'), ...OUTSIDE, ...SDK, '@aws-sdk/client-bedrock-runtime'],
  ],
  [
    `${G}/providers/http/x.ts`,
    [...gateway('providers/openai', 'providers/conversation', 'store', 'flow', 'contracts'), ...OUTSIDE, ...SDK],
  ],
  [
    `${G}/providers/conversation/x.ts`,
    [...gateway('providers/openai', 'providers/http', 'http', 'store', 'flow', 'contracts'), ...OUTSIDE, ...SDK],
  ],
  [`${G}/flow/answering/x.ts`, [...gateway('store', 'middleware', 'providers', 'providers/http'), ...OUTSIDE, ...SDK]],
  [`${G}/middleware/x.ts`, [...gateway('store', 'providers'), ...OUTSIDE, ...SDK]],
  ['layers/tokenizer/x.ts', [...gateway('domain', 'flow'), ...OUTSIDE, ...SDK]],
  ['functions/chat/x.ts', [...OUTSIDE.slice(1), 'layers/admin/api/handle.ts']],
  ['functions/admin/x.ts', ['operator/connect/connect.ts', 'operator/console/server.ts', ...OUTSIDE.slice(1)]],
  [
    'catalog/x.ts',
    [...gateway('wire', 'store', 'providers', 'flow', 'middleware', 'contracts'), ...OUTSIDE.slice(0, 6), ...CONSOLE],
  ],
  [
    'infra/x.ts',
    [
      ...gateway('store', 'flow', 'middleware', 'contracts'),
      'functions/gates.ts',
      'operator/main.ts',
      'local/server.ts',
      'test/all.ts',
      'bench/row.ts',
      ...CONSOLE,
    ],
  ],
  [
    'operator/x.ts',
    ['functions/gates.ts', 'local/server.ts', 'infra/app.ts', 'test/all.ts', 'bench/row.ts', ...CONSOLE],
  ],
  [
    'operator/admin-client/x.ts',
    [
      'operator/commands/keys.ts',
      'operator/console/server.ts',
      'local/server.ts',
      'functions/gates.ts',
      'infra/app.ts',
      'test/all.ts',
      ...CONSOLE,
    ],
  ],
  [
    'operator/console/x.ts',
    ['console/app.tsx', 'local/server.ts', 'functions/gates.ts', 'infra/app.ts', 'test/all.ts', 'bench/row.ts'],
  ],
  [
    'console/x.tsx',
    [
      ...gateway('domain', 'wire'),
      ...OUTSIDE.slice(0, 7),
      'console/build.ts',
      'layers/admin/api/keys.ts',
      'layers/admin/api/shapes/keys.ts',
      ...SDK,
      'node:fs',
      'preact/compat',
    ],
  ],
  ['console/build.ts', [...gateway('domain'), ...OUTSIDE.slice(0, 7), 'console/app.tsx', ...SDK, 'preact/compat']],
  ['local/x.ts', ['infra/app.ts', 'test/all.ts', 'bench/row.ts', ...CONSOLE]],
  ['bench/x.ts', ['test/all.ts', ...CONSOLE]],
  ['added/x.ts', ['zod']],
])('%s may not import what is not in its row', (file, targets) => {
  expect(targets.filter((target) => !refusedOf(file, target))).toEqual([])
})

test('types may be taken where the row says so, and values not', () => {
  const taken = ['layers/admin/api/shapes/keys.ts', 'layers/admin/api/keys.ts']
  expect(taken.map((target) => refusedOf('console/x.tsx', target, true))).toEqual([false, true])
  const provider = `${G}/providers/provider.ts`
  expect([true, false].map((isType) => refusedOf(`${G}/flow/routing/x.ts`, provider, isType))).toEqual([false, true])
  expect(
    findFault({ file: `${G}/flow/routing/x.ts`, line: 3, specifier: '../p.ts', target: provider, isType: false }),
  ).toBe(
    `${G}/flow/routing/x.ts:3 imports '../p.ts', but flow/** takes nothing but types from there (test/rooms/rooms.ts).`,
  )
  expect(findFault({ file: 'catalog/x.ts', line: 3, specifier: 'esbuild', target: 'esbuild', isType: false })).toBe(
    "catalog/x.ts:3 imports 'esbuild', but catalog/** may import domain/**, wire/{bad-field,closest,field-rules}.ts, zod (test/rooms/rooms.ts).",
  )
})
