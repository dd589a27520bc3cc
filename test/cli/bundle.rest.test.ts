import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { openTestTables } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { openStage } from '../support/stack.ts'
import { until } from '../support/wait.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NODE = join(ROOT, 'node_modules', '.bin', 'node')

/** A clone with other sources than ours, so that they can be changed. */
function cloned(...names: string[]): string {
  const folder = emptyFolder()
  for (const name of ['waybill.js', 'require-node.cjs', 'which-node.cjs', 'package.json', ...names]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  }
  return folder
}

function versionIn(folder: string): readonly [number | null, string, string] {
  const { status, stdout, stderr } = spawnSync(NODE, [join(folder, 'waybill.js'), '--version'], { encoding: 'utf8' })
  return [status, stdout, stderr]
}

function setVersion(folder: string, version: string): void {
  const path = join(folder, 'package.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), version }))
  utimesSync(path, new Date(), new Date(Date.now() - 60_000))
}

test('waybill is bundled when it is first run, and again when a source has changed, even to an older file', () => {
  const folder = cloned('cli', 'layers', 'infra/catalog.json')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const bundle = join(folder, 'dist', 'waybill.cjs')
  setVersion(folder, '1.1.1')
  expect(versionIn(folder)).toEqual([0, '1.1.1\n', ''])
  const text = readFileSync(bundle, 'utf8')
  // The bundle is run, and not the sources.
  writeFileSync(bundle, text.replace('1.1.1', '1.1.1-bundled'))
  expect(versionIn(folder)).toEqual([0, '1.1.1-bundled\n', ''])
  setVersion(folder, '2.2.2')
  expect(versionIn(folder)).toEqual([0, '2.2.2\n', ''])
  // Without a place for a bundle, the sources are run.
  rmSync(join(folder, 'dist'), { recursive: true })
  writeFileSync(join(folder, 'dist'), '')
  expect(versionIn(folder)).toEqual([0, '2.2.2\n', ''])
})

test('help, completions and the version load neither AWS’s SDK nor the admin API nor the catalog’s validator', () => {
  const hook = `import { registerHooks } from 'node:module'
registerHooks({ load: (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context)) })`
  const args = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, join(ROOT, 'cli/waybill.ts'), '--help']
  const { status, stderr } = spawnSync(NODE, args, { encoding: 'utf8' })
  const loaded = stderr.trim().split('\n')
  expect([status, loaded.some((url) => url.endsWith('commands/keys.ts'))]).toEqual([0, true])
  expect(
    loaded.filter((url) => /@aws-sdk|@smithy|node_modules\/yaml|layers\/admin\/api\/|\/catalog\//.test(url)),
  ).toEqual([])
})

test('the bundle reaches a stage by a profile, and serves the console’s page', async () => {
  const stage = await openStage(await openTestTables())
  const at = ['--stage', 'dev']
  const listed = await stage.start('waybill.js', ['keys', 'list', '--json', ...at]).ended
  expect([listed.code, listed.stderr, JSON.parse(listed.stdout).data]).toEqual([0, '', []])
  const { child, output, ended } = stage.start('waybill.js', ['console', '--no-open', '--read-only', ...at])
  const address = await until(() => /http:\/\/127\.0\.0\.1:\d+\//.exec(output.stdout)?.[0], 30_000)
  const script = await fetch(`${address}console.js`)
  expect([script.status, (await script.text()).length > 1_000]).toEqual([200, true])
  child.kill('SIGINT')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
})
