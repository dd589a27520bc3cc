import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'

const ROOT = new URL('../../', import.meta.url)
const FOLDER = new URL('.github/workflows/', ROOT)
const files = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }))
const all = files.map(({ text }) => text).join('')

test('every npm script that a workflow of GitHub runs is there', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'))
  const run = [...all.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name)
  expect(run).toEqual(expect.arrayContaining(['diff', 'deploy', 'smoke']))
  for (const name of run) expect(Object.keys(scripts)).toContain(name)
})

test('prod is deployed from GitHub only after the tests, dev and a try of dev, and in an environment that can ask for an approval', () => {
  const deploy = files.find(({ name }) => name === 'deploy.yml')?.text ?? ''
  const needs = [...deploy.matchAll(/^ {2}(\w+):\n(?: {4}.*\n)*? {4}needs: (\w+)/gm)].map(([, job, needed]) => [
    job,
    needed,
  ])
  expect(needs).toEqual([
    ['dev', 'test'],
    ['prod', 'dev'],
  ])
  const stage = files.find(({ name }) => name === 'deploy-stage.yml')?.text ?? ''
  expect(stage).toMatch(/environment: \$\{\{ inputs\.stage \}\}/)
  const steps = ['npm run diff', 'npm run deploy', 'npm run smoke'].map((step) => stage.indexOf(step))
  expect(steps).toEqual([...steps].sort((a, b) => a - b))
  expect(steps).not.toContain(-1)
})

test('a workflow of GitHub names no secret: it proves itself to AWS for each run', () => {
  expect(all).not.toMatch(/secrets\.|AWS_SECRET_ACCESS_KEY|AKIA/)
  expect(all).toContain('id-token: write')
})
