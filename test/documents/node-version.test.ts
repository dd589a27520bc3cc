import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ROOT, readDocument } from './support/markdown.ts'

const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

test('the npm scripts run the Node version that .nvmrc and the README name and that runs in AWS', () => {
  const [major] = String(manifest.dependencies.node).split('.')
  expect(readFileSync(`${ROOT}.nvmrc`, 'utf8').trim()).toBe(major)
  expect(process.versions.node.split('.')[0]).toBe(major)
  expect(readFileSync(`${ROOT}infra/functions/gateway-function.ts`, 'utf8')).toContain(`NODEJS_${major}_X`)
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
  const folder = mkdtempSync(join(tmpdir(), 'waybill-node-'))
  for (const file of ['package.json', 'require-node.cjs', 'waybill.js'])
    copyFileSync(`${ROOT}${file}`, join(folder, file))
  writeFileSync(join(folder, 'old.cjs'), version)
  if (hasPackages) mkdirSync(join(folder, 'node_modules'))
  return (...args: string[]) => {
    const { status, stderr } = spawnSync(NODE, ['-r', './old.cjs', ...args], { cwd: folder, encoding: 'utf8' })
    return [status, stderr]
  }
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

test('a start before npm ci says so in one line', () => {
  const run = start('', false)
  expect(run('-r', './require-node.cjs', 'local/main.ts')).toEqual([
    1,
    "The packages are not installed. Run 'npm ci' first.\n",
  ])
})
