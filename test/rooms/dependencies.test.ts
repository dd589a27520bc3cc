import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { PEERS } from '../../infra/deploy/run-infra.ts'
import { ROOT } from '../documents/support/markdown.ts'
import { readImports } from './read-imports.ts'

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
const manifest = read('package.json')
const IMPORTS = readImports(ROOT, manifest.imports)

const FOLDERS = readdirSync(join(ROOT, 'functions'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
/** The files that Lambda, Node, a thread or a browser begins with, in a bundle or after an installation. */
const ROOTS = [
  ...FOLDERS.map(({ name }) => `functions/${name}/handler.ts`),
  'waybill.js',
  'local/main.ts',
  'local/dynamodb/worker.ts',
  'local/tokenizer-worker.ts',
  'console/main.tsx',
  'infra/app.ts',
  'infra/deploy/main.ts',
]
/** They make what a package has prebuilt, so nobody who installs it needs what they import. */
const BUILDS = ['console/build.ts', 'console/usage-page/build.ts', 'infra/functions/bundle.ts', 'cli/bundle.ts']
/** npm installs both kinds. */
const INSTALLED = { ...manifest.dependencies, ...manifest.peerDependencies }

/** Nobody imports it: infra starts `cdk`. */
const PROGRAMS = ['aws-cdk']
/** Nor these, which check the code, or run the npm scripts. */
const TOOLS = ['@biomejs/biome', '@types/aws-lambda', '@types/node', 'jest', 'node']

test('dependencies are what a bundle or an installed waybill needs', () => {
  expect(ROOTS.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  const run = reachedFrom(ROOTS).difference(new Set(BUILDS))
  const needed = new Set([...packagesOf(run, false), ...PROGRAMS])
  expect([...Object.keys(INSTALLED)].toSorted()).toEqual([...needed].toSorted())
  // Whose CDK it is: a construct and the app around it must have the same one.
  expect(Object.keys(manifest.peerDependencies)).toEqual(PEERS)
})

test('devDependencies are what only builds and tests need', () => {
  const files = new Set(IMPORTS.map(({ file }) => file))
  const others = new Set([...packagesOf(files, true), ...TOOLS]).difference(
    new Set([...Object.keys(INSTALLED), manifest.name]),
  )
  // Its types are another package.
  others.delete('aws-lambda')
  expect(Object.keys(manifest.devDependencies)).toEqual([...others].toSorted())
})

test('the lock file agrees, and every version is exact but for the CDK, which an app decides', () => {
  const { packages } = read('package-lock.json')
  const { dependencies, devDependencies, peerDependencies } = packages['']
  expect({ dependencies, devDependencies, peerDependencies }).toEqual({
    dependencies: manifest.dependencies,
    devDependencies: manifest.devDependencies,
    peerDependencies: manifest.peerDependencies,
  })
  // Tried with the least CDK that an app may have.
  expect(peerDependencies['aws-cdk-lib']).toBe(`^${packages['node_modules/aws-cdk-lib'].version}`)
  // An app may have a newer library, which only a newer command line can read: npm takes the newest that is there.
  const { 'aws-cdk': commandLine, ...others } = { ...dependencies, ...devDependencies }
  expect(commandLine).toBe(`^${packages['node_modules/aws-cdk'].version}`)
  expect(Object.values(others).filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([])
})

/** With all that they load, also later. */
function reachedFrom(roots: readonly string[]): Set<string> {
  const reached = new Set(roots)
  const loads = Map.groupBy(IMPORTS, ({ file }) => file)
  for (const file of reached) {
    for (const { target, isType } of loads.get(file) ?? []) if (!isType && isOurs(target)) reached.add(target)
  }
  return reached
}

function packagesOf(files: ReadonlySet<string>, withTypes: boolean): Set<string> {
  const theirs = IMPORTS.filter(({ file, isType }) => files.has(file) && (withTypes || !isType))
  const targets = theirs.map(({ target }) => target).filter((target) => !target.startsWith('node:') && !isOurs(target))
  return new Set(targets.map((target) => target.split('/', target.startsWith('@') ? 2 : 1).join('/')))
}

function isOurs(target: string): boolean {
  return existsSync(join(ROOT, target))
}
