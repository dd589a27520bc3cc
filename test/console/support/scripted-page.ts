import { describe, test } from '@jest/globals'
import { BROWSER_PATH } from '../../support/programs.ts'
import { openBrowser, openWatched, type WatchedPage } from './browser.ts'
import { type ScriptedConsole, startScriptedConsole } from './scripted-console.ts'

export const inBrowser = BROWSER_PATH ? describe : describe.skip
if (!BROWSER_PATH) {
  test.skip('no Chromium is installed (the package chromium, or its path in WAYBILL_CHROMIUM): no page is tried', () => {})
}

export type ScriptedPage = WatchedPage & { readonly scripted: ScriptedConsole; close(): Promise<void> }

/** A browser with the console open, over answers of a gateway with some history. */
export async function openScriptedPage(script = ''): Promise<ScriptedPage> {
  const [browser, scripted] = await Promise.all([openBrowser(), startScriptedConsole({ keys: 8, requests: 8 })])
  const watched = await openWatched(browser, script)
  await watched.page.goto(scripted.address)
  await watched.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const close = async () => {
    await browser.close()
    await scripted.close()
  }
  return { ...watched, scripted, close }
}
