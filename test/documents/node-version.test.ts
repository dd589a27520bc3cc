import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { ROOT, readDocument } from './support/markdown.ts'

const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

test('the Node of the npm scripts is the one that .nvmrc and the documents name, and the one in AWS', () => {
  const [major] = String(manifest.devDependencies.node).split('.')
  expect(readFileSync(`${ROOT}.nvmrc`, 'utf8').trim()).toBe(major)
  expect(process.versions.node.split('.')[0]).toBe(major)
  expect(readFileSync(`${ROOT}infra/gateway-function.ts`, 'utf8')).toContain(`NODEJS_${major}_X`)
  expect(readDocument('README.md')).toContain(`The npm scripts bring Node ${major} along`)
})

test('the Node that npm itself needs is the one that the README names', () => {
  const [, least] = /^>=(\d+)$/.exec(manifest.engines.node) ?? []
  expect(readDocument('README.md')).toContain(`npm with Node ${least} or newer`)
})
