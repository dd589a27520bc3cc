import type { Browser, Page } from 'playwright-core'
import { BROWSER_PATH } from '../../support/programs.ts'
import { openBrowser } from './browser.ts'
import { type ScriptedConsole, startScriptedConsole } from './scripted-console.ts'

export type ScriptedPage = {
  readonly browser: Browser
  readonly scripted: ScriptedConsole
  readonly page: Page
  /** Every complaint of the browser: errors, warnings, violations of the policy. */
  readonly troubles: string[]
  close(): Promise<void>
}

/** A browser with the console open, over answers of a gateway with some history. `script` runs in every page before its own. */
export async function openScriptedPage(script = ''): Promise<ScriptedPage> {
  const [browser, scripted] = await Promise.all([
    openBrowser(BROWSER_PATH ?? ''),
    startScriptedConsole({ keys: 8, requests: 8 }),
  ])
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  context.setDefaultTimeout(120_000)
  await context.addInitScript(script)
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(String(error)))
  await page.goto(scripted.address)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const close = async () => {
    await browser.close()
    scripted.close()
  }
  return { browser, scripted, page, troubles, close }
}
