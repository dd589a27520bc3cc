import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { ROOT, readDocument } from './support/markdown.ts'

const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

test('the npm scripts run the Node version that .nvmrc and the README name and that runs in AWS', () => {
  const [major] = String(manifest.devDependencies.node).split('.')
  expect(readFileSync(`${ROOT}.nvmrc`, 'utf8').trim()).toBe(major)
  expect(process.versions.node.split('.')[0]).toBe(major)
  expect(readFileSync(`${ROOT}infra/gateway-function.ts`, 'utf8')).toContain(`NODEJS_${major}_X`)
  expect(readDocument('README.md')).toContain(`The npm scripts bring Node ${major} along`)
})

test('the README names the oldest Node version that package.json allows', () => {
  const [, least] = /^>=(\d+)$/.exec(manifest.engines.node) ?? []
  expect(readDocument('README.md')).toContain(`npm with Node ${least} or newer`)
})
