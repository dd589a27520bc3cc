import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { adminOf } from '../admin-api/support/admin.ts'
import { managedPolicy } from '../deployed/support/managed-policy.ts'
import { HELLO } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { blocksOf } from './support/markdown.ts'

const [COMMAND = ''] = blocksOf('docs/operate.md', 'sh').filter((it) => it.startsWith('aws dynamodb update-item '))
const TEXTS = ['update-expression', 'condition-expression'] as const
const VALUES = ['key', 'expression-attribute-names', 'expression-attribute-values'] as const

/** The options of the command that the document has, as the call that AWS's command line makes of them. */
function callFor(keyId: string, TableName: string): UpdateItemCommandInput {
  const options = Object.fromEntries(
    [...COMMAND.matchAll(/--([a-z-]+) '([^']*)'/g)].map(([, name, text]) => [name, text]),
  )
  expect(Object.keys(options).sort()).toEqual([...TEXTS, ...VALUES].sort())
  const nameOf = (option: string) => option.replace(/(^|-)([a-z])/g, (_, __, letter) => letter.toUpperCase())
  return Object.fromEntries([
    ['TableName', TableName],
    ...TEXTS.map((option) => [nameOf(option), options[option]]),
    ...VALUES.map((option) => [nameOf(option), JSON.parse(options[option]?.replace('KEY_ID', keyId) ?? '')]),
  ])
}

const gateway = (await openBoth()).gateway

async function suspend(keyId: string): Promise<void> {
  await gateway.tables.database.control('UpdateItem', callFor(keyId, gateway.tables.keys))
}

test('the documented command refuses a key from its next request on, and leaves its books and its events right', async () => {
  const { key, secret } = await gateway.issue()
  const admin = adminOf(gateway.tables)
  expect((await gateway.post(secret, HELLO)).status).toBe(200)
  await suspend(key.id)
  const refused = await gateway.post(secret, HELLO)
  expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
    403,
    'key_suspended',
  ])
  const audit = await admin.call('POST /audits', { body: { key_id: key.id } })
  expect(JSON.parse(audit.text.split('\n')[0] ?? '')).toMatchObject({ key_id: key.id, rows: 1, ok: true })
  const shown = await admin.call(`GET /keys/${key.id}`)
  expect(shown.body).toMatchObject({ status: 'suspended', version: key.version })
  const whatOf = async () =>
    (await admin.call(`GET /keys/${key.id}/events`)).body.data.map(({ what }: { what: string }) => what)
  expect(await whatOf()).toEqual(['key.created'])
  expect((await admin.call(`POST /keys/${key.id}/resume`)).status).toBe(200)
  expect((await gateway.post(secret, HELLO)).status).toBe(200)
  await suspend(key.id)
  await admin.call(`POST /keys/${key.id}/revoke`, { body: { confirm: key.name } })
  expect(await whatOf()).toEqual(['key.revoked', 'key.resumed', 'key.created'])
  expect((await gateway.post(secret, HELLO)).status).toBe(401)
})

test('the documented command changes no key that is not active, and makes none', async () => {
  const { key } = await gateway.issue()
  await adminOf(gateway.tables).call(`POST /keys/${key.id}/revoke`, { body: { confirm: key.name } })
  for (const id of [key.id, 'key_none']) {
    await expect(suspend(id)).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' })
  }
  expect((await gateway.readKey(key.id)).status).toBe('revoked')
})

test('on-call has the right to exactly the items and attributes that the documented command names', async () => {
  const [right, ...more] = (await managedPolicy('WaybillOnCall')).filter(({ Action }) =>
    JSON.stringify(Action).includes('dynamodb:'),
  )
  const { Key = {}, ExpressionAttributeNames = {} } = callFor('key_1', 'keys')
  const named = [...Object.keys(Key), ...Object.values(ExpressionAttributeNames)]
  expect([right?.Action, more]).toEqual(['dynamodb:UpdateItem', []])
  expect(right?.Condition).toMatchObject({
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [Key.pk?.S?.replace('key_1', '*')] },
    'ForAllValues:StringEquals': { 'dynamodb:Attributes': named },
  })
}, 480_000)
