import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { emptyFolder } from '../support/processes.ts'
import { ROOT, readDocument } from './support/markdown.ts'

const manifest = JSON.parse(readDocument('package.json'))

test('the npm scripts run the Node version that .nvmrc and the README name and that runs in AWS', () => {
  const [major] = String(manifest.devDependencies.node).split('.')
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

test('an older Node is told by a package what to install: the package brings none', () => {
  const run = start(OLD, true)
  mkdirSync(join(run.folder, 'dist', 'package'), { recursive: true })
  writeFileSync(join(run.folder, 'dist', 'package', 'waybill.cjs'), 'console.log(1)')
  const says =
    /^Waybill needs Node 24, and this is v[\d.]+\. Run 'npx -p node@24 -p waybill waybill', or install it, for example with 'nvm install 24'\.\n$/
  expect(run('waybill.js')).toEqual([1, expect.stringMatching(says)])
})

test('a start before npm ci says so in one line', () => {
  const run = start('', false)
  const told = [1, "The packages are not installed. Run 'npm ci' first.\n"]
  expect(run('-r', './require-node.cjs', 'local/main.ts')).toEqual(told)
})
