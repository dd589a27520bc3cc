import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { BIN, ROOT } from '../support/cdk-environment.ts'
import { emptyFolder } from '../support/processes.ts'

const PROVIDERS = 'layers/gateway/providers'
const isDialect = (name: string) =>
  readdirSync(join(ROOT, PROVIDERS, name)).some((file) => file.endsWith('-provider.ts'))
const folders = readdirSync(join(ROOT, PROVIDERS), { withFileTypes: true }).filter((entry) => entry.isDirectory())
const DIALECTS = folders.map(({ name }) => name).filter(isDialect)

test('the lint rules keep each dialect, and one that is added, apart from the others', () => {
  expect(DIALECTS).toContain('anthropic')
  const folder = emptyFolder()
  copyFileSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'))
  const all = [...DIALECTS, 'added']
  for (const name of all) {
    const known = ['http/post', 'conversation/turns', 'verdict', '../domain/chat', '../wire/delta']
    const others = all.filter((other) => other !== name).map((other) => `${other}/${other}-provider`)
    const file = join(folder, PROVIDERS, name, 'imports.ts')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, [...others, ...known].map((path) => `import '../${path}.ts'\n`).join(''))
  }
  const found = Array.from(linted(folder).matchAll(/noRestrictedImports.*providers\/(\w+)\/imports\.ts,line=(\d+)/g))
  const wanted = all.flatMap((name) => all.slice(1).map((_, i) => `${name} ${i + 1}`))
  expect(found.map(([, name, line]) => `${name} ${line}`).toSorted()).toEqual(wanted.toSorted())
})

test('the lint rules let the admin function alone import the admin API, and nothing else of the command line', () => {
  const folder = emptyFolder()
  copyFileSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'))
  const imported = ['layers/admin/api/handle', 'operator/connect', 'operator/console/server', 'local/server']
  for (const name of ['admin', 'usage', 'added']) {
    const file = join(folder, 'functions', name, 'imports.ts')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, imported.map((path) => `import '../../${path}.ts'\n`).join(''))
  }
  const found = Array.from(linted(folder).matchAll(/noRestrictedImports.*functions\/(\w+)\/imports\.ts,line=(\d+)/g))
  const lines = ['1', '2', '3', '4']
  const of = (name: string) => found.flatMap(([, its, line = '']) => (its === name ? [line] : [])).toSorted()
  expect([of('admin'), of('usage'), of('added')]).toEqual([lines.slice(1), lines, lines])
})

function linted(folder: string): string {
  const args = ['lint', '--reporter=github', '--vcs-enabled=false', '--max-diagnostics=200']
  return spawnSync(join(BIN, 'biome'), args, { cwd: folder, encoding: 'utf8' }).stdout
}
