import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { PEERS } from '../../infra/deploy/run-infra.ts'
import { ROOT } from '../documents/support/markdown.ts'
import { readImports } from './read-imports.ts'

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
const manifest = read('package.json')
const IMPORTS = readImports(ROOT, manifest.imports)

/** Nobody imports it: infra starts `cdk`. */
const PROGRAMS = ['aws-cdk']
/** Nor these, which check the code, or run the npm scripts. */
const TOOLS = ['@biomejs/biome', '@types/aws-lambda', '@types/node', 'jest', 'node']

test('a package installs nothing with it: the CDK is a peer, which only a deployment needs', () => {
  expect([manifest.dependencies, manifest.optionalDependencies]).toEqual([undefined, undefined])
  expect(Object.keys(manifest.peerDependencies)).toEqual(PEERS)
  const optional = PEERS.map((name) => [name, { optional: true }])
  expect(manifest.peerDependenciesMeta).toEqual(Object.fromEntries(optional))
})

test('devDependencies are what the code, its builds and its tests need', () => {
  const needed = new Set([...packagesOf(), ...PROGRAMS, ...TOOLS])
  // The types of aws-lambda are another package.
  for (const name of ['aws-lambda', manifest.name]) needed.delete(name)
  expect(Object.keys(manifest.devDependencies)).toEqual([...needed].toSorted())
})

test('the lock file agrees, and every version is exact but for the CDK, which an app decides', () => {
  const { packages } = read('package-lock.json')
  const { devDependencies, peerDependencies } = packages['']
  expect({ devDependencies, peerDependencies }).toEqual({
    devDependencies: manifest.devDependencies,
    peerDependencies: manifest.peerDependencies,
  })
  // Tried with the least CDK that an app may have.
  for (const name of ['aws-cdk', 'aws-cdk-lib']) {
    expect(peerDependencies[name]).toBe(`^${packages[`node_modules/${name}`].version}`)
  }
  const others = Object.entries(devDependencies).flatMap(([name, version]) => (PEERS.includes(name) ? [] : version))
  expect(others.filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([])
})

function packagesOf(): Set<string> {
  const targets = IMPORTS.map(({ target }) => target).filter((target) => !target.startsWith('node:') && !isOurs(target))
  return new Set(targets.map((target) => target.split('/', target.startsWith('@') ? 2 : 1).join('/')))
}

function isOurs(target: string): boolean {
  return existsSync(join(ROOT, target))
}
