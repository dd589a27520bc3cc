import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { emptyFolder } from '../support/processes.ts'
import { ROOT, readDocument } from './support/markdown.ts'

const manifest = JSON.parse(readDocument('package.json'))

test('the npm scripts run the Node version that .nvmrc and the README name and that runs in AWS', () => {
  const [major] = String(manifest.dependencies.node).split('.')
  expect(readDocument('.nvmrc').trim()).toBe(major)
  expect(process.versions.node.split('.')[0]).toBe(major)
  expect(readDocument('infra/functions/gateway-function.ts')).toContain(`NODEJS_${major}_X`)
  expect(readDocument('README.md')).toContain(`The npm scripts bring Node ${major} along`)
})

test('the README names the oldest Node version that package.json allows', () => {
  const [, least] = /^>=(\d+)$/.exec(manifest.engines.node) ?? []
  expect(readDocument('README.md')).toContain(`npm with Node ${least} or newer`)
})

const NODE = `${ROOT}node_modules/.bin/node`
const OLD = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })"

/** In a folder with the manifest and the guard, and with packages or without. */
function start(version: string, hasPackages: boolean) {
  const folder = emptyFolder()
  for (const file of ['package.json', 'require-node.cjs', 'waybill.js', 'which-node.cjs'])
    copyFileSync(`${ROOT}${file}`, join(folder, file))
  writeFileSync(join(folder, 'old.cjs'), version)
  if (hasPackages) mkdirSync(join(folder, 'node_modules'))
  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync(NODE, ['-r', './old.cjs', ...args], { cwd: folder, encoding: 'utf8' })
    return [status, stderr]
  }
  return Object.assign(run, { folder })
}

test('an older Node says so in one line, in every script and at the command line', () => {
  const says = /^Waybill needs Node 24, and this is v.*\n$/
  const run = start(OLD, true)
  expect(run('-r', './require-node.cjs', 'local/main.ts')).toEqual([1, expect.stringMatching(says)])
  expect(run('waybill.js')).toEqual([1, expect.stringMatching(says)])
  const bare = Object.entries(manifest.scripts as Record<string, string>).filter(([, script]) =>
    /\bnode (?!-r \.\/require-node\.cjs )[\w/-]+\.ts/.test(script),
  )
  expect(bare).toEqual([])
  expect(manifest.bin).toEqual({ waybill: 'waybill.js' })
})

test('an older Node starts the one that the package brings, with the same words, signals and exit code', async () => {
  const packed = `process.on('SIGTERM', () => process.exit(7))
    if (process.argv[2] === 'wait') setTimeout(() => {}, 60_000)
    if (process.argv[2] === 'die') process.kill(process.pid, 'SIGKILL')
    console.log(process.versions.node, ...process.argv.slice(2))`
  const run = start(OLD, true)
  const { folder } = run
  const node = join(folder, 'node_modules', 'node')
  mkdirSync(join(folder, 'dist', 'package'), { recursive: true })
  writeFileSync(join(folder, 'dist', 'package', 'waybill.cjs'), packed)
  symlinkSync(`${ROOT}node_modules/node`, node)
  const ofNode = ['-r', './old.cjs', 'waybill.js']
  const options = { cwd: folder, encoding: 'utf8' } as const
  const said = spawnSync(NODE, [...ofNode, 'a b', '$c'], options)
  expect([said.status, said.stdout, said.stderr]).toEqual([0, `${manifest.dependencies.node} a b $c\n`, ''])
  expect(spawnSync(NODE, [...ofNode, 'die'], options).signal).toBe('SIGKILL')
  const waiting = spawn(NODE, [...ofNode, 'wait'], { cwd: folder })
  await once(waiting.stdout, 'data')
  waiting.kill('SIGTERM')
  expect(await once(waiting, 'exit')).toEqual([7, null])

  rmSync(node)
  mkdirSync(join(node, 'bin'), { recursive: true })
  writeFileSync(join(node, 'package.json'), '{}')
  writeFileSync(join(node, 'bin', 'node'), 'not for this machine')
  const [status, told] = run('waybill.js')
  expect([status, told]).toEqual([1, expect.stringMatching(/^Waybill needs Node 24, and this is v.*pnpm.*\n$/)])
  expect(readDocument('docs/deploy.md')).toContain(/'(npm install-scripts [^']*)'/.exec(String(told))?.[1])
})

test('a start before npm ci says so in one line', () => {
  const run = start('', false)
  const told = [1, "The packages are not installed. Run 'npm ci' first.\n"]
  expect(run('-r', './require-node.cjs', 'local/main.ts')).toEqual(told)
})
