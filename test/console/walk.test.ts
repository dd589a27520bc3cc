import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
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
})
