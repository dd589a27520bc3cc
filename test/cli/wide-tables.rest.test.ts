import { isDeepStrictEqual } from 'node:util'
import { expect, test } from '@jest/globals'
import type { LISTS } from '../../layers/admin/api/route-words.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { noteDelivery } from '../../layers/gateway/store/notices/deliveries.ts'
import { LEFT_OUT } from '../../layers/terminal/output.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { stageOfFile } from './support/commands.ts'

const { opened, json, shown } = await stageOfFile()
const { gateway, upstream } = opened

/** A list of the admin API, and the command that shows it as a table. */
const TABLES: Readonly<Record<keyof typeof LISTS, string | null>> = {
  KeyList: 'keys list',
  AccountList: 'accounts list',
  GrantList: 'keys grants alone',
  EventList: 'events list',
  NoticeList: 'notices',
  RequestLineList: 'usage list',
  CatalogVersionList: 'catalog versions',
  PlanList: 'plans list',
  RouteList: 'routes list',
  RouteTestList: 'routes test',
  AdminKeyList: 'admin-keys list',
  // Exported as CSV, and looked at by smoke.
  FocusLineList: null,
  TableList: null,
}
const OTHERS = [
  'keys show alone',
  'keys show acme',
  'accounts show firm',
  'plans show gold',
  'usage summary --by key',
  'audit',
]

/** Fields that some commands tell in other words, and these words. */
const IN_WORDS: Readonly<Record<string, string>> = {
  account_suspended: 'the status: suspended with its account',
  hides_balance: 'hide the balance, if it does',
  credit_windows: 'the limits: 3 (2 left)',
  balances: 'the result',
  explained: 'the result',
  share: 'its percentage',
}

await writeCatalog(gateway.tables)(catalogFor(upstream.url), actAt())
await shown('plans', 'create', '--name', 'gold', '--factor', '1.5', '--models', 'test-model', '--rpm', '77')
await shown('accounts', 'create', '--name', 'firm', '--credits', '12.5', '--note', 'net 30', '--notify-below', '2')
await shown('keys', 'create', '--name', 'acme', '--account', 'firm', '--models', 'test-model', '--daily-credits', '3')
const alone = await json<{ id: string; secret: string }>(
  'keys',
  'create',
  '--name',
  'alone',
  '--credits',
  '9',
  '--reference',
  'inv_1',
)
await shown('keys', 'rotate', 'alone', '--grace', '30')
const ADMIN_KEY = ['--scopes', 'usage.read', '--allow', '203.0.113.0/24', '--daily-grant', '4']
await shown('admin-keys', 'create', '--name', 'program', ...ADMIN_KEY)
const { reply } = upstream
upstream.reply = (response) => void response.writeHead(500).end()
await gateway.post(alone.secret, HELLO)
upstream.reply = reply
const owner = { id: alone.id, name: 'alone' }
const notice = { id: '01KAE8Z3W1N7Q4H5T6V8X9Y0AB', what: 'key.suspended', facts: {} } as const
await noteDelivery(gateway.tables)(notice, owner as never, { status: 'failed', error: 'no route' }, Date.now())

type Row = Readonly<Record<string, unknown>>

function leavesOf(value: unknown): (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** The fields of rows whose values are not all in the text. */
function missingIn(text: string, rows: readonly Row[]): string[] {
  const fields = rows.flatMap((row) =>
    Object.entries(row).flatMap(([field, value]) => {
      const isThere = leavesOf(value).every((leaf) => text.includes(String(leaf)))
      const isTold = typeof value !== 'boolean' || text.includes(field.replaceAll('_', ' '))
      return isThere && isTold ? [] : [field]
    }),
  )
  return [...new Set(fields)].filter((field) => !Object.hasOwn({ ...LEFT_OUT, ...IN_WORDS }, field))
}

const commands = [...Object.values(TABLES).flatMap((command) => command ?? []), ...OTHERS]

test.each(commands)('waybill %s has every field of --json with --wide', async (command) => {
  const args = command.split(' ')
  const read = async () => {
    const told = await json<Row & { data?: readonly Row[]; groups?: readonly Row[] }>(...args)
    return told.groups ?? told.data ?? [told]
  }
  const before = await read()
  const wide = await opened.stage.onTerminal([...args, '--wide', '--stage', 'dev'], 60, { NO_COLOR: '1' })
  const after = await read()
  // The seconds until a limit is whole again, for example, are others in each run.
  const rows = before.map((row, i) => {
    const stayed = Object.entries(row).filter(([field, value]) => isDeepStrictEqual(value, after[i]?.[field]))
    return Object.fromEntries(stayed)
  })
  expect(rows.flatMap(Object.keys).length).toBeGreaterThan(rows.length)
  expect([wide.code, missingIn(wide.stdout, rows)]).toEqual([0, []])
})
