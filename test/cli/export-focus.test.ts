import { expect, test } from '@jest/globals'
import type { Invoices } from '../../cli/books/invoices.ts'
import { DAY_MS, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { newAccount } from '../../layers/gateway/domain/keys/account.ts'
import { formatCredits, parseCredits } from '../../layers/gateway/domain/money/money.ts'
import type { FocusLine } from '../../layers/gateway/domain/rows/focus-line.ts'
import { adoptKey, createAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { Random } from '../simulation/random.ts'
import { actAt } from '../support/act.ts'
import { openTestTables } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { closerAt, randomRows, usedKey } from '../support/past-usage.ts'
import { openStage } from '../support/stack.ts'

const THIS_MONTH_MS = Date.parse(`${utcDay(Date.now()).slice(0, 7)}-01`)
const MONTH = utcDay(THIS_MONTH_MS - 1).slice(0, 7)
const FIRST_MS = Date.parse(`${MONTH}-01`)
const DAYS = (THIS_MONTH_MS - FIRST_MS) / DAY_MS

test('export focus of a month is its invoices and statements, customer by customer, to the nanocredit, also of keys that came into an account in that month and later', async () => {
  const tables = await openTestTables()
  const stage = await openStage(tables)
  const random = new Random(9)
  const keys = []
  for (const count of [60, 40, 20]) {
    keys.push((await usedKey(tables, FIRST_MS, (id) => randomRows(random, id, FIRST_MS, DAYS, count))).key)
  }
  await closerAt(tables, () => FIRST_MS + (DAYS - 1) * DAY_MS).run()
  const focus = (...args: string[]) =>
    stage.waybill([
      'export',
      'focus',
      '--from',
      `${MONTH}-01`,
      '--to',
      utcDay(THIS_MONTH_MS),
      ...args,
      '--stage',
      'dev',
    ])
  const open = await focus()
  expect([open.code, open.stdout]).toEqual([1, ''])
  expect(open.stderr).toMatch(/must be the end of a closed UTC day, but got .*; the last one is \d{4}-\d\d-\d\d/)

  await closerAt(tables, () => THIS_MONTH_MS + DAY_MS / 2).run()
  const account = newAccount({ name: 'Ann, "Co"' }, 0n, FIRST_MS, new Uint8Array(10))
  await createAccount(tables)(account, actAt())
  // The papers of this month stay as they are when a key comes into the account after it.
  const [, within, after] = keys.map(({ id }) => id)
  for (const [id = '', atMs] of [
    [within, FIRST_MS + 5 * DAY_MS],
    [after, THIS_MONTH_MS],
  ] as const)
    expect(await adoptKey(tables)(id, account.id, actAt(atMs))).toMatchObject({ changed: true })
  const { code, stdout } = await focus('--format', 'jsonl')
  expect(code).toBe(0)
  const lines = jsonLines<FocusLine>(stdout)
  const invoice = await stage.waybill(['invoice', '--month', MONTH, '--format', 'json', '--stage', 'dev'])
  const { data, total } = JSON.parse(invoice.stdout) as Invoices
  const sum = (id?: string) =>
    formatCredits(
      lines
        .filter(({ BillingAccountId }) => id === undefined || BillingAccountId === id)
        .reduce((all, { BilledCost }) => all + (parseCredits(BilledCost ?? '') ?? 0n), 0n),
    )
  expect(data.map(({ account_id, key_id }) => account_id ?? key_id)).toEqual(
    expect.arrayContaining([account.id, keys[0]?.id, after]),
  )
  for (const { account_id, key_id, total } of data) {
    const whose = account_id ? ['--account', account_id] : ['--key', key_id ?? '']
    const paper = async (kind: string) =>
      JSON.parse((await stage.waybill([kind, ...whose, '--month', MONTH, '--format', 'json', '--stage', 'dev'])).stdout)
    expect([(await paper('statement')).charged, (await paper('invoice')).total]).toEqual([total.charged, total])
  }
  for (const { account_id, key_id, total } of data) expect(sum(account_id ?? key_id ?? '')).toBe(total.charged)
  expect(sum()).toBe(total.charged)
  const ofAccount = lines.filter(({ BillingAccountName }) => BillingAccountName === 'Ann, "Co"')
  expect(ofAccount.some(({ BilledCost }) => BilledCost !== '0')).toBe(true)
  const csv = (await focus()).stdout.trimEnd().split('\n')
  expect(csv[0]).toBe(Object.keys(lines[0] ?? {}).join(','))
  expect(csv).toHaveLength(lines.length + 1)
  const unused = await focus('--from', utcDay(FIRST_MS - DAY_MS), '--to', `${MONTH}-01`)
  expect([unused.code, unused.stdout.trimEnd()]).toEqual([0, csv[0]])
  const none = await stage.waybill(['export', 'focus', '--from', 'today', '--stage', 'dev'])
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('There is no whole day from')])
})
