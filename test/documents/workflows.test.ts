import { readdirSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { INSTALL } from '../support/python.ts'
import { ROOT, readDocument } from './support/markdown.ts'

const textOf = (name: string) => readDocument(`.github/workflows/${name}`)
const all = readdirSync(`${ROOT}.github/workflows`).map(textOf).join('')
const { scripts, publishConfig } = JSON.parse(readDocument('package.json'))

/** The text has all of these, in this order. */
function expectInOrder(text: string, steps: readonly string[]): void {
  const places = steps.map((step) => text.indexOf(step))
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
}

test('every npm script that a workflow of GitHub runs is there', () => {
  const run = [...all.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name)
  expect(run).toEqual(expect.arrayContaining(['diff', 'deploy', 'smoke']))
  for (const name of run) expect(Object.keys(scripts)).toContain(name)
})

test('prod is deployed from GitHub only after the tests, dev and a try of dev, and in an environment that can ask for an approval', () => {
  const deploy = textOf('deploy.yml')
  const needs = deploy.matchAll(/^ {2}(\w+):\n(?: {4}.*\n)*? {4}needs: (\w+)/gm)
  expect(Array.from(needs, ([, job, needed]) => `${job} after ${needed}`)).toEqual(['dev after test', 'prod after dev'])
  const stage = textOf('deploy-stage.yml')
  expect(stage).toMatch(/environment: \$\{\{ inputs\.stage \}\}/)
  expectInOrder(stage, ['npm run diff', 'npm run deploy', 'npm run smoke'])
})

test('every action is pinned by its commit, with the version beside it that Dependabot renews', () => {
  const uses = [...all.matchAll(/uses: (.*)/g)].map(([, it = '']) => it).filter((it) => !it.startsWith('./'))
  expect(uses.length).toBeGreaterThan(8)
  expect(uses.filter((it) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(it))).toEqual([])
  const commits = new Map(uses.map((it) => [it, it.split('@')[0]]))
  expect(new Set(commits.values()).size).toBe(commits.size)
  expect(readDocument('.github/dependabot.yml')).toMatch(/npm.*github-actions/s)
})

test('every change is audited and tested, and so is every package', () => {
  for (const name of ['deploy.yml', 'release.yml']) {
    const [, job = ''] = /^ {2}(?:test|pack):\n((?: {4}.*\n|\n|)*)/m.exec(textOf(name)) ?? []
    expect([name, job.match(/npm (ci|audit|test)\b/g)]).toEqual([name, ['npm ci', 'npm audit', 'npm test']])
  }
  expect(textOf('deploy.yml')).toMatch(/^on:\n {2}pull_request:$/m)
})

test('a package is published only by the workflow: tested, audited, with a bill of materials, provenance and an approval', () => {
  const release = textOf('release.yml')
  const [pack = '', publish = ''] = release.split(/^ {2}publish:$/m)
  const steps = ['ci', 'audit', 'test', 'pack', 'run templates release', 'sbom --sbom-format cyclonedx']
  expectInOrder(
    pack,
    steps.map((step) => `- run: npm ${step}`),
  )
  expect(pack).not.toContain('id-token')
  expect(publish).toMatch(/assets:\n {4}needs: publish\n.*attestations: write.*sha256sum.*attest@.*gh release create/s)
  // npm compares it with the provenance.
  expectInOrder(pack, ['repository.url=git+$GITHUB_SERVER_URL/$GITHUB_REPOSITORY.git', '- run: npm pack'])
  expect(pack).toContain('- run: npm pkg set repository')
  expect(publish).toMatch(/needs: pack\n.*environment: npm\n.*id-token: write/s)
  expect(publish).toContain('npm publish --ignore-scripts --provenance ./waybill-*.tgz')
  // The code of packages could use the right to publish.
  expect(publish).not.toMatch(/npm (ci|install|run|test|exec)|npx/)
  expect(publishConfig).toEqual({ access: 'public', provenance: true })
  expect(textOf('deploy.yml')).toContain('- run: npm audit --audit-level=high')
})

test.each(['deploy.yml', 'night.yml'])('%s installs the libraries that documented Python is tested with', (name) => {
  expect(textOf(name)).toContain(`- run: ${INSTALL}\n`)
})

test('no workflow leaves its token to the code that it runs, or puts a value from outside into a command', () => {
  const checkouts = [...all.matchAll(/uses: actions\/checkout@.*\n(.*\n.*)\n/g)].map(([, rest]) => rest)
  expect(checkouts.length).toBe(all.match(/actions\/checkout@/g)?.length)
  for (const rest of checkouts) expect(rest).toMatch(/with:\n +persist-credentials: false$/)
  expect([...all.matchAll(/run: .*\$\{\{.*/g)].map(([line]) => line)).toEqual([])
})

test('a workflow of GitHub names no secret: it proves itself to AWS for each run', () => {
  expect(all).not.toMatch(/secrets\.|AWS_SECRET_ACCESS_KEY|AKIA/)
  expect(all).toContain('id-token: write')
})
