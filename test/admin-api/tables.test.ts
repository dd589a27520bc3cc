import { expect, test } from '@jest/globals'
import { describedTables } from '../support/described-tables.ts'
import { openTables } from '../support/stack.ts'
import { adminOf } from './support/admin.ts'

test('GET /tables tells which settings a restored table has lost, and is a 501 where tables have none', async () => {
  const tables = await openTables()
  const right = { object: 'table', expires: true, recoverable: true, deletion_protected: true }
  const lost = { ...right, expires: false, recoverable: false, deletion_protected: false }
  const { body } = await adminOf(describedTables(tables, tables.usage)).call('GET /tables')
  expect(body.data).toEqual([
    { ...right, kind: 'keys', name: tables.keys },
    { ...right, kind: 'answers', name: tables.answers },
    { ...lost, kind: 'usage', name: tables.usage },
  ])
  const here = await adminOf(tables).call('GET /tables')
  expect([here.status, here.body.error.code]).toEqual([501, 'not_here'])
})
