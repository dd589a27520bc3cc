import { expect, test } from '@jest/globals'
import { readDocument as read } from './support/markdown.ts'

test('the newest version of the changelog has a date, and is that of the package, its lockfile and the OpenAPI document', () => {
  const [, newest] = /^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$/m.exec(read('CHANGELOG.md')) ?? []
  const lockfile = JSON.parse(read('package-lock.json'))
  const { info } = JSON.parse(read('docs/openapi.json'))
  const stated = [JSON.parse(read('package.json')), lockfile, lockfile.packages[''], info]
  expect(stated.map(({ version }) => version)).toEqual(stated.map(() => newest))
})
