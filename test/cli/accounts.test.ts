import { expect, test } from '@jest/globals'
import type { AccountDetail } from '../../layers/admin/api/shapes/accounts.ts'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { HELLO } from '../support/gateway.ts'
import { stageOfFile } from './support/commands.ts'

const { opened, shown, json, list, refused } = await stageOfFile()
const { gateway } = opened
const account = (...args: string[]) => json<AccountDetail>('accounts', ...args)

test('an operator makes an account with keys, grants to it, looks, suspends and closes it by its name', async () => {
  const contact = ['--contact-name', 'Ann', '--contact-email', 'ann@acme.example', '--note', 'net 30', '--hide-balance']
  const credits = ['--credits', '10', '--reference', 'inv_1', '--notify-below', '2']
  const made = await account('create', '--name', 'acme', '--external-id', 'cus_1', ...credits, ...contact)
  expect(made).toMatchObject({ granted: '10', notify_below: '2', contact_name: 'Ann', hides_balance: true })
  const key = await json<KeyWithSecret>('keys', 'create', '--name', 'prod', '--account', 'cus_1')
  expect((await gateway.post(key.secret ?? '', HELLO)).status).toBe(200)
  for (const text of [made.id, 'acme', 'cus_1']) expect((await account('show', text)).id).toBe(made.id)
  expect(await shown('accounts', 'show', 'acme')).toMatch(
    /available +[\d.]+ \([\d.]+ in the pool, [\d.]+ with its keys/,
  )
  expect(await shown('keys', 'list')).toMatch(/prod .* acme /)
  expect(await shown('accounts', 'update', 'acme', '--note', '', '--show-balance')).toMatch(/note net 30 → none/)
  expect(await shown('accounts', 'grant', 'acme', '5', '--reference', 'inv_2')).toContain('granted 10 → 15')
  expect(await list('accounts', 'grants', 'acme')).toMatchObject([{ credits: '5' }, { credits: '10' }])
  expect(await list('usage', 'list', '--account', 'acme')).toMatchObject([{ key_id: key.id, account_name: 'acme' }])
  for (const by of [['account'], ['account', '--status', '200']]) {
    const { groups } = await json<{ groups: object[] }>('usage', 'summary', '--by', ...by)
    expect(groups).toMatchObject([{ group: made.id, label: 'acme' }])
  }
  expect(await shown('usage', 'export', '--from', 'today', '--account', 'acme')).toContain(key.id)
  expect(await list('audit', '--account', 'acme')).toMatchObject([{ account_id: made.id, ok: true }])
  expect(await shown('audit')).toMatch(/1 key and 1 account, all clean/)
  expect(await list('events', 'list', '--account', 'acme')).toMatchObject([{ what: 'account.granted' }, {}, {}])
  expect(await shown('accounts', 'suspend', 'acme')).toContain('status active → suspended')
  expect(await shown('keys', 'show', 'prod')).toMatch(/status +suspended with its account/)
  expect(await refused('keys', 'resume', 'prod')).toContain('waybill accounts resume acme')
  expect(await shown('accounts', 'resume', 'acme')).toContain('status suspended → active')
  const alone = await json<KeyWithSecret>('keys', 'create', '--name', 'alone', '--credits', '1')
  expect(await shown('keys', 'adopt', 'alone', '--account', 'acme')).toContain(
    'account acme, to which its grants of 1 went',
  )
  expect((await account('show', 'acme')).granted).toBe('16')
  const adopted = ['events', 'list', '--key', 'alone', '--limit', '1', '--stage', 'dev']
  const told = async (...more: string[]) => (await opened.stage.onTerminal([...adopted, ...more], 120, {})).stdout
  expect(await told()).toContain('customer acme, credits 1')
  expect(await told('--wide')).toContain(`customer ${made.id}, credits 1`)
  expect(await refused('statement', '--key', 'alone', '--month', 'this-month')).toMatch(
    /^The key 'alone' is one of the account 'acme', .*: waybill statement --account acme --month 20\d\d-\d\d\.\n$/,
  )
  expect(await shown('accounts', 'close', 'acme')).toMatch(
    /status active → closed\n +[\d.]+ credits are left, and 0 are held/,
  )
  expect((await gateway.post(alone.secret ?? '', HELLO)).status).toBe(401)
  expect(await list('accounts', 'list')).toMatchObject([{ status: 'closed', key_count: 0 }])
  expect(await refused('accounts', 'grant', 'acme', '1')).toContain('is closed')
})

test.each<[string[], string]>([
  [['accounts', 'show', 'nobody'], "There is no account 'nobody'. 'waybill accounts list' shows those that exist."],
  [['accounts', 'create', '--name', 'a\tb'], 'without control characters'],
  [['accounts', 'update', 'acme'], 'Say what to change'],
  [['keys', 'create', '--name', 'x', '--account', 'nobody'], "There is no account 'nobody'"],
  [['keys', 'adopt', 'prod'], "required option '--account <account>' not specified"],
  [
    ['events', 'list', '--account', 'acme', '--catalog'],
    "option '--catalog' cannot be used with option '--account <account>'",
  ],
])('%j is refused', async (args, message) => {
  expect(await refused(...args)).toContain(message)
})
