import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openBoth } from '../support/stack.ts'
import { PICTURED } from './support/pictured.ts'
import type { ScriptedConsole } from './support/scripted-console.ts'
import { inBrowser, openScriptedPage, type ScriptedPage } from './support/scripted-page.ts'

inBrowser('a walk through every page', () => {
  let opened: ScriptedPage
  let page: Page
  let scripted: ScriptedConsole
  let troubles: string[]

  beforeAll(async () => {
    opened = await openScriptedPage()
    ;({ page, scripted, troubles } = opened)
  })
  afterAll(() => opened?.close())

  test.each(Object.entries(PICTURED))(
    'the console’s page %s shows its data, within 1280 px',
    async (_, { path, text }) => {
      await page.goto(`${scripted.origin}/#/${path}`)
      await page.getByText(text).first().waitFor()
      await page.locator('main', { hasNotText: 'Loading…' }).waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1280)
      expect(troubles).toEqual([])
    },
  )

  test('a key is suspended from its page, after a question', async () => {
    await page.goto(`${scripted.origin}/#/${PICTURED.key?.path}`)
    await page.getByRole('button', { name: 'Suspend', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Suspend/ })
      .click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(scripted.asked.map(({ url }) => url)).toContainEqual(expect.stringMatching(/\/suspend$/))
    expect(troubles).toEqual([])
  })

  test('the owner of a key sees its balance on /usage', async () => {
    const { gateway } = await openBoth({ hasUsagePage: true })
    const { secret } = await gateway.issue({ credits: '12.5' })
    await page.goto(`${gateway.baseUrl}/usage`)
    await page.getByLabel('Your key').fill(secret)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Balance' }).getByText('12.50').waitFor()
    await page.getByRole('region', { name: 'Models and prices' }).getByText('test-model').waitFor()
    expect(troubles).toEqual([])
  })
})
