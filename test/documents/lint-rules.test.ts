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
  const { stdout } = spawnSync(
    join(BIN, 'biome'),
    ['lint', '--reporter=github', '--vcs-enabled=false', '--max-diagnostics=200'],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  )
  const found = Array.from(stdout.matchAll(/noRestrictedImports.*providers\/(\w+)\/imports\.ts,line=(\d+)/g))
  const wanted = all.flatMap((name) => all.slice(1).map((_, i) => `${name} ${i + 1}`))
  expect(found.map(([, name, line]) => `${name} ${line}`).toSorted()).toEqual(wanted.toSorted())
})
