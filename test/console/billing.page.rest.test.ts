import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { startConsole } from '../../cli/console/start-console.ts'
import { DAY_MS, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { newAccount } from '../../layers/gateway/domain/keys/account.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { adoptKey, createAccount, grantToAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { noteDelivery } from '../../layers/gateway/store/notices/deliveries.ts'
import { row } from '../cli/support/bills.ts'
import { actAt } from '../support/act.ts'
import { openTestTables } from '../support/gateway.ts'
import { closerAt, usedKey } from '../support/past-usage.ts'
import { connectionTo, startSignedAdmin } from '../support/signed-admin.ts'
import { openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'
import { faultsIn, openBrowser, openWatched, type WatchedPage } from './support/browser.ts'
import { inBrowser } from './support/scripted-page.ts'

const TODAY_MS = Date.parse(utcDay(Date.now()))
const THIS_MONTH_MS = Date.parse(`${utcDay(TODAY_MS).slice(0, 7)}-01`)
const MONTH = utcDay(THIS_MONTH_MS - 1).slice(0, 7)
const FIRST_MS = Date.parse(`${MONTH}-01`)
/** The fifth day of the month, so many days ago. */
const DAYS_AGO = (TODAY_MS - FIRST_MS) / DAY_MS - 4
const DAY = utcDay(FIRST_MS + 4 * DAY_MS)
const USED = [
  { user: 'ann', tags: { team: 'search' } },
  { user: 'ann', tags: { team: 'mail' } },
  { user: 'bob', tags: { team: 'search' } },
  {},
]

inBrowser('bills, invoices and notices in the console, with nothing scripted between the page and the tables', () => {
  let tables: Tables
  let stage: Stage
  let opened: WatchedPage
  let page: Page
  let origin: string
  let accountId: string
  let rows: UsageRow[]
  const stack = new AsyncDisposableStack()

  beforeAll(async () => {
    const [browser, made] = await Promise.all([openBrowser(), openTestTables()])
    stack.defer(() => browser.close())
    tables = made
    stage = await openStage(tables)
    const providers = { openrouter: { type: 'openai', baseUrl: 'https://openrouter.ai/api/v1' } } as const
    await writeCatalog(tables)({ providers, models: [] }, actAt())
    const rowsOf = (id: string) => USED.map((more) => row(id, DAYS_AGO, 'openrouter', 'm/one', more))
    const used = await usedKey(tables, FIRST_MS - DAY_MS, rowsOf)
    await usedKey(tables, FIRST_MS, (id) => [row(id, DAYS_AGO, 'openrouter', 'm/one')])
    rows = used.rows
    const account = newAccount({ name: 'Ann & Co', externalId: 'cus_ann' }, 0n, FIRST_MS - DAY_MS, new Uint8Array(10))
    accountId = account.id
    await createAccount(tables)(account, actAt(FIRST_MS - DAY_MS))
    await adoptKey(tables)(used.key.id, accountId, actAt(FIRST_MS))
    const reference = { text: 'INV-42', isAgain: false }
    await grantToAccount(tables)(accountId, 5_000_000_000n, actAt(FIRST_MS + DAY_MS), undefined, reference)
    await closerAt(tables, () => Date.now()).run()
    const notice = { id: '01M7MP1PF88TGGJ0SQ19VVW7KB', what: 'key.revoked', facts: {} } as const
    const error = 'The webhook answered with status 500.'
    await noteDelivery(tables)(notice, used.key, { status: 'failed', error }, Date.now())
    const later = { ...notice, id: '01M7MP1PF88TGGJ0SQ19VVW7KC', what: 'key.balance_low' } as const
    await noteDelivery(tables)(later, used.key, { status: 'told', by: 'bus and webhook' }, Date.now())
    const admin = stack.use(await startSignedAdmin(tables, 'http://127.0.0.1:1', { stage: 'local' }))
    const options = { port: 0, isReadOnly: true }
    const address = await startConsole(connectionTo(admin, 'http://127.0.0.1:1'), options, stack)
    origin = new URL(address).origin
    opened = await openWatched(browser, axe.source)
    page = opened.page
    page.setDefaultTimeout(30_000)
    await page.goto(address)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })
  afterAll(() => stack.disposeAsync())

  const visit = (path: string) => page.goto(`${origin}/#/${path}`)
  const sees = (words: string | RegExp) => page.getByText(words).first().waitFor()
  const tableOf = (name: string) => page.getByRole('table', { name })
  const rowsOf = async (name: string) => (await tableOf(name).getByRole('row').allInnerTexts()).map(oneLine)
  const oneLine = (told: string) => told.replace(/\s+/g, ' ').trim()

  async function saved(button: string): Promise<string> {
    const name = { name: button, exact: true }
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', name).click()])
    return text(await file.createReadStream())
  }

  async function expectNoFault(): Promise<void> {
    for (const look of [{ colorScheme: 'light', width: 360 } as const, { colorScheme: 'dark', width: 1280 } as const])
      expect(await faultsIn(page, look)).toEqual({ wrong: [], beyond: 0, clipped: [] })
    await page.setViewportSize({ width: 1280, height: 900 })
  }

  test('the invoices of a month are those of the command line, and the sheet of a customer has the balances', async () => {
    await visit('invoices')
    await page.getByRole('link', { name: `Read the invoices of ${MONTH}` }).click()
    await sees('Ann & Co')
    const { stdout, code } = await stage.waybill(['invoice', '--month', MONTH, '--stage', 'dev'])
    expect([code, (await saved('Save as CSV')).trimEnd()]).toEqual([0, stdout.trimEnd()])
    // On paper every sheet is whole.
    const shown = () => page.locator('details table').filter({ visible: true }).count()
    expect(await shown()).toBe(0)
    await page.emulateMedia({ media: 'print' })
    expect(await shown()).toBe(4)
    await page.emulateMedia({ media: 'screen' })
    await page.locator('summary', { hasText: 'Ann & Co' }).press('Enter')
    const charged = formatCredits(rows.reduce((sum, { cost }) => sum + cost, 0n))
    expect((await rowsOf('Balance')).join('\n')).toMatch(
      new RegExp(`Top-up INV-42 5\n.*Usage -${charged}\nClosing balance`, 's'),
    )
    expect((await rowsOf('Usage')).at(-1)).toBe(`Total ${charged}`)
    expect(await saved('Save as a page')).toMatch(/Ann &amp; Co.*Top-up INV-42.*Closing balance/s)
    await expectNoFault()
  })

  test('a month that is not over does not say that nothing was used: its days are not in it yet', async () => {
    const month = utcDay(TODAY_MS).slice(0, 7)
    await visit(`invoices?month=${month}`)
    await sees(/Not closed yet/)
    expect(await page.getByText('Nothing was used').count()).toBe(0)
    const file = await saved('Save as a page')
    expect(file).toContain('Not closed yet')
    expect(file).not.toContain('Nothing was used')
    await visit(`invoices?month=${utcDay(FIRST_MS - 1).slice(0, 7)}`)
    await sees(/^Nothing was used in/)
  })

  test('the statement of a customer is reached from its page, and a month that is not over is refused in words', async () => {
    await visit(`accounts/${accountId}`)
    await page.locator('main').getByRole('link', { name: 'Statements', exact: true }).click()
    await tableOf('Balance').waitFor()
    expect(await page.getByLabel('Month').inputValue()).toBe(MONTH)
    expect(await saved('Save as CSV')).toMatch(/^month,kind,.*\r\n.*top-up.*INV-42/s)
    await expectNoFault()
    await page.getByLabel('Month').selectOption(utcDay(TODAY_MS).slice(0, 7))
    await sees('must be closed')
  })

  test.each([
    ['m/one', '5', 'Every day and model is within the tolerance.'],
    ['m/one', '7', '1 of 1 differ by more than the tolerance.'],
    ['no,such"bill', '5', 'has a quote that is not closed'],
  ])('a bill of %s over %s is compared in the window, and sent nowhere', async (model, cost, verdict) => {
    await visit(`reconcile?range=last-month&provider=openrouter&at=${cost}${model.length}`)
    const csv = `date,model,endpoint_id,usage\n${DAY},${model},secretEndpoint,${cost}\n`
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await page.getByRole('button', { name: 'Compare' }).click()
    await sees(verdict)
    expect(opened.sent.join()).not.toContain('secretEndpoint')
    if (cost === '7') {
      expect((await rowsOf('The bill beside our rows')).slice(1)).toEqual([
        expect.stringMatching(`^${DAY} m/one 5 10.00 5.00 7.00 2.00 wrong`),
        'All 5 10.00 5.00 7.00 2.00',
      ])
      expect(await saved('Save as CSV')).toMatch(`${DAY},m/one,5,10,5,7,2,false`)
    }
    await expectNoFault()
  })

  test('a tolerance that is no percentage is told at its field, in words for what it takes', async () => {
    await visit('reconcile?range=last-month&provider=openrouter')
    const told = page.locator('#bill .bad-text')
    const field = page.getByLabel('Tolerance, %')
    for (const [typed, words] of [
      ['250', 'Tolerance, % must be a decimal of at most 2 places, up to 100.'],
      ['', 'Tolerance, % is missing.'],
    ] as const) {
      await field.fill(typed)
      await page.getByRole('button', { name: 'Compare' }).click()
      expect(await told.allInnerTexts()).toEqual([words])
    }
  })

  test('usage is added up by user, by a tag that is named, by customer and by day, in the chart too', async () => {
    await visit('usage?range=last-month')
    const groups = async (by: string) =>
      (await rowsOf(`Usage by ${by}`)).slice(1).map((line) => line.split(' 2.').at(0))
    await page.getByRole('button', { name: 'Group by: Model' }).click()
    await page.getByRole('button', { name: 'User', exact: true }).click()
    await tableOf('Usage by user').waitFor()
    const told = await rowsOf('Usage by user')
    expect(told.slice(1).map((line) => line.replace(/ (\S+) \S+ \S+ (\d).*/, ' $1 $2'))).toEqual([
      'none 4.00 2',
      'ann 4.00 2',
      'bob 2.00 1',
      'All 10.00 5',
    ])
    await page.locator('.legend', { hasText: 'bob' }).waitFor()
    await page.getByRole('button', { name: 'Group by: User' }).press('Enter')
    await page.keyboard.type('tag:team')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'search', exact: true }).click()
    await page.waitForURL(/requests\?range=last-month&tag=team%3Dsearch/)
    for (const [by, first] of [
      ['customer', 'Ann & Co'],
      ['day', DAY],
    ] as const) {
      await visit(`usage?range=last-month&group_by=${by.replace('customer', 'account')}`)
      await tableOf(`Usage by ${by}`).waitFor()
      expect((await groups(by)).join()).toContain(first)
    }
    await expectNoFault()
  })

  test('notices have a page: to whom each was told, by what, and why one was not', async () => {
    await visit('notices')
    await sees('key.revoked')
    const told = (await rowsOf('Notices, newest first')).map((line) => line.replace(/^\d+ \S+ ago/, 'now'))
    expect(told).toEqual([
      'When Notice Of Status Delivered by Tries Why not',
      expect.stringMatching(/^now key\.balance_low \S+ told bus and webhook 1$/),
      expect.stringMatching(/^now key\.revoked \S+ failed 1 The webhook answered with status 500\.$/),
    ])
    await expectNoFault()
  })

  test('nothing in all of this violated the Content-Security-Policy or left an error in the browser', () => {
    expect(opened.troubles.filter((trouble) => !/ 400 /.test(trouble))).toEqual([])
  })
})
