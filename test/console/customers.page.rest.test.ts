import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { startConsole } from '../../cli/console/start-console.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { connectionTo, startSignedAdmin } from '../support/signed-admin.ts'
import { openBoth } from '../support/stack.ts'
import { until } from '../support/wait.ts'
import { openBrowser, openWatched } from './support/browser.ts'
import { inBrowser } from './support/scripted-page.ts'

inBrowser('a customer in the console, with nothing scripted between the page and the gateway', () => {
  let gateway: TestGateway
  let page: Page
  let troubles: string[]
  let secret: string
  const stack = new AsyncDisposableStack()

  beforeAll(async () => {
    const [browser, both] = await Promise.all([openBrowser(), openBoth()])
    stack.defer(() => browser.close())
    gateway = both.gateway
    const admin = stack.use(await startSignedAdmin(gateway.tables, gateway.baseUrl, { stage: 'local' }))
    const connection = connectionTo(admin, gateway.baseUrl)
    const address = await startConsole(connection, { port: 0, isReadOnly: false }, stack)
    ;({ page, troubles } = await openWatched(browser))
    page.setDefaultTimeout(20_000)
    await page.goto(address)
    await page.getByText('Error rate').waitFor()
  })
  afterAll(() => stack.disposeAsync())

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const titled = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  const dialog = () => page.getByRole('dialog')
  const says = (text: string | RegExp) => page.getByText(text).first().waitFor()
  const status = async () => (await gateway.post(secret, HELLO)).status
  const balance = async () => Number(await page.locator('.balance strong data').getAttribute('value'))

  /** Opens a dialog, fills it in, and presses its button. */
  async function act(opener: string, verb: string, texts: Readonly<Record<string, string>> = {}): Promise<void> {
    await button(opener).click()
    for (const [label, text] of Object.entries(texts)) await dialog().getByLabel(label, { exact: true }).fill(text)
    await dialog().getByRole('button', { name: verb, exact: true }).click()
  }

  /** The amount that the page shows as the balance, once it is like this. */
  const balanceIs = (isLike: (balance: number) => boolean) => until(async () => isLike(await balance()))

  test('a customer is made with credits, and a key of theirs spends them', async () => {
    await link('Customers').click()
    await says('There are no customers yet.')
    await act('Create customer', 'Create', {
      Name: 'acme',
      'External id': 'cus_1',
      'E-mail': 'ann@acme.example',
      'Notify below': '2',
      'Credits to begin with': '10',
      Reference: 'inv_1',
    })
    await titled('acme')
    await balanceIs((credits) => credits === 10)
    for (const text of ['cus_1', 'ann@acme.example', 'inv_1']) await says(text)
    await act('Add key', 'Create', { Name: 'staging' })
    secret = (await page.locator('.secret').textContent()) ?? ''
    await button('I have stored it').click()
    await page.getByRole('table', { name: 'Keys' }).getByRole('link', { name: 'staging' }).waitFor()
    expect(await status()).toBe(200)
    await balanceIs((credits) => credits < 10 && credits > 9)
  })

  test('a grant and its correction move the balance at once', async () => {
    await act('Grant credits', 'Grant', { Credits: '5', Reference: 'inv_2' })
    await balanceIs((credits) => credits > 14 && credits < 15)
    await act('Grant credits', 'Grant', { Credits: '-1' })
    await balanceIs((credits) => credits > 13 && credits < 14)
  })

  test('a suspended customer is refused from the next request on, and a resumed one is not', async () => {
    await act('Suspend', 'Suspend')
    await button('Resume').waitFor()
    expect(await status()).toBe(403)
    await link('staging').first().click()
    await says('It is suspended with its customer')
    expect(await button('Resume').count()).toBe(0)
    await page.getByRole('paragraph').filter({ hasText: 'resumed first' }).getByRole('link', { name: 'acme' }).click()
    await titled('acme')
    await act('Resume', 'Resume')
    await button('Suspend').waitFor()
    expect(await status()).toBe(200)
  })

  test('a key that was alone is adopted with its balance', async () => {
    await gateway.issue({ name: 'laptop', credits: '3' })
    await button('Adopt a key').click()
    await dialog().getByRole('button', { name: 'Key', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Find a key' }).waitFor()
    // The first Escape is the list's.
    await page.keyboard.press('Escape')
    await dialog().getByRole('button', { name: 'Key', exact: true }).click()
    expect(await page.locator('.options').getByText('staging').count()).toBe(0)
    await page.locator('.options').getByText('laptop').click()
    await dialog()
      .getByText(/that balance: 3\.00 credits/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Adopt', exact: true }).click()
    await balanceIs((credits) => credits > 16 && credits < 17)
  })

  test('the page of a key of theirs names them in place of a balance, and offers no act on one', async () => {
    await link('staging').first().click()
    await titled('staging')
    await says('Its balance is that of acme.')
    expect(await button('Grant credits').count()).toBe(0)
    expect(await page.getByRole('heading', { name: 'Grants' }).count()).toBe(0)
    await button('Change settings').click()
    await dialog().getByLabel('Requests a minute').waitFor()
    expect(await dialog().getByLabel('Notify below').count()).toBe(0)
    await page.keyboard.press('Escape')
    await link('Keys').click()
    await page.getByRole('row', { name: 'staging' }).getByRole('link', { name: 'acme' }).waitFor()
    await button('Create key').click()
    await dialog().getByRole('button', { name: 'Customer', exact: true }).click()
    await page.locator('.options').getByText('acme').click()
    await dialog().getByText('It uses the balance of acme.').waitFor()
    expect(await dialog().getByLabel('Credits to begin with').count()).toBe(0)
    await dialog().getByLabel('Name', { exact: true }).fill('production')
    await dialog().getByRole('button', { name: 'Create', exact: true }).click()
    await button('I have stored it').click()
    await page.getByRole('row', { name: 'production' }).getByRole('link', { name: 'acme' }).waitFor()
  })

  test('requests, usage, changes and the search know them by name', async () => {
    await link('Requests').click()
    await button('Customer').click()
    await page.locator('.options').getByText('acme').click()
    await button('Customer: acme').waitFor()
    await page
      .getByRole('row', { name: /staging ?of acme/ })
      .first()
      .waitFor()
    await link('Usage').click()
    await button('Group by: Model').click()
    await page.locator('.options').getByText('Customer', { exact: true }).click()
    await page.getByRole('table', { name: 'Usage by customer' }).getByRole('link', { name: 'acme' }).waitFor()
    await link('Changes').click()
    await page.getByRole('row', { name: 'account.resumed' }).getByRole('link', { name: 'acme' }).waitFor()
    await link('acme').first().click()
    await link('All changes of this customer').click()
    await titled('Changes')
    await page.getByRole('row', { name: 'account.granted' }).first().waitFor()
    expect(await page.getByRole('row', { name: 'key.created' }).count()).toBe(0)
    await page.getByTitle('Show all again').click()
    await page.getByRole('row', { name: 'key.created' }).getByRole('link', { name: 'ann' }).first().click()
    await page.getByTitle('Show all again').getByText('user/ann').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('acm')
    await page.getByRole('option', { name: /acme.*Customer/ }).click()
    await titled('acme')
  })

  test('a customer is closed only by their name, and then their keys are revoked and the books balance', async () => {
    await button('Close').click()
    await dialog()
      .getByText(/^Its keys \(3\) are revoked.* 1[67]\.\d+ credits are left/)
      .waitFor()
    expect(await button('Close for good').isDisabled()).toBe(true)
    await dialog()
      .getByLabel(/^Type its name/)
      .fill('acme')
    await button('Close for good').click()
    await says(/^Done: acme is closed, with 16\.\d+ credits\.$/)
    expect(await button('Grant credits').count()).toBe(0)
    expect(await status()).toBe(401)
    await link('Books').click()
    await button('Run the ledger check').click()
    await says(/3 keys and 1 customer, 0 wrong/)
    await page.getByRole('row', { name: /^acme balanced/ }).waitFor()
    expect(troubles).toEqual([])
  })
})
