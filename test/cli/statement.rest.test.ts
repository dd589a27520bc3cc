import { expect, test } from '@jest/globals'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { newAccount } from '../../layers/gateway/domain/keys/account.ts'
import { parseSignedCredits } from '../../layers/gateway/domain/money/money.ts'
import { adoptKey, createAccount, grantToAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { noteDelivery } from '../../layers/gateway/store/notices/deliveries.ts'
import { Random } from '../simulation/random.ts'
import { actAt } from '../support/act.ts'
import { openTestTables } from '../support/gateway.ts'
import { closerAt, randomRows, usedKey } from '../support/past-usage.ts'
import { openStage } from '../support/stack.ts'

const FIRST_MS = Date.UTC(2026, 9, 1)
const END_MS = Date.UTC(2026, 10, 1)

test('waybill statement writes JSON, CSV whose lines add up, and a page; an open month and no customer are refused', async () => {
  const tables = await openTestTables()
  const stage = await openStage(tables)
  const account = newAccount({ name: '=Ann', externalId: 'cus_ann' }, 0n, FIRST_MS, new Uint8Array(10))
  await createAccount(tables)(account, actAt(FIRST_MS))
  const { key } = await usedKey(tables, FIRST_MS, (id) => randomRows(new Random(3), id, FIRST_MS, 31, 20))
  await adoptKey(tables)(key.id, account.id, actAt(FIRST_MS + DAY_MS))
  const reference = { text: 'payment 7', isAgain: false }
  await grantToAccount(tables)(account.id, 123_456_789n, actAt(FIRST_MS + 2 * DAY_MS), undefined, reference)
  await grantToAccount(tables)(account.id, -1n, actAt(FIRST_MS + 3 * DAY_MS))
  await closerAt(tables, () => END_MS + DAY_MS / 2).run()
  const statement = (...args: string[]) => stage.waybill(['statement', ...args, '--stage', 'dev'])
  const asked = ['--account', 'cus_ann', '--month', '2026-10']
  const json = JSON.parse((await statement(...asked, '--format', 'json')).stdout)
  expect(json).toMatchObject({ account_id: account.id, topped_up: '0.123456789', corrected: '-0.000000001' })
  const { stdout: csv, code } = await statement(...asked)
  const lines = csv.trim().split(/\r?\n/).slice(1)
  const credits = lines.map((line) => parseSignedCredits(line.slice(line.lastIndexOf(',') + 1)) ?? 0n)
  expect([code, credits.slice(0, -1).reduce((sum, one) => sum + one, 0n)]).toEqual([0, credits.at(-1)])
  expect(credits.at(-1)).toBe(parseSignedCredits(json.closing))
  expect((await statement(...asked, '--format', 'html')).stdout).toMatch(/^<!doctype html>.*=Ann.*payment 7/s)
  const open = await statement('--account', 'cus_ann', '--month', '2026-11')
  expect([open.code, open.stderr]).toEqual([1, expect.stringContaining('2026-11-01 is not')])
  expect((await statement('--month', '2026-10')).stderr).toContain('--account ACCOUNT or --key KEY')
})

test('waybill notices lists what was told and what failed', async () => {
  const tables = await openTestTables()
  const stage = await openStage(tables)
  const { key } = await usedKey(tables, FIRST_MS, () => [])
  const notice = { id: '01M7MP1PF88TGGJ0SQ19VVW7KB', what: 'key.revoked', facts: {} } as const
  await noteDelivery(tables)(
    notice,
    key,
    { status: 'failed', error: 'The webhook answered with status 500.' },
    FIRST_MS,
  )
  const { stdout, code } = await stage.waybill(['notices', '--stage', 'dev'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/key\.revoked.*failed.*1.*status 500/)])
})
