import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { BROWSER_PATH } from '../support/programs.ts'
import { openBrowser } from './support/browser.ts'
import { PICTURED, pictureOf } from './support/pictured.ts'
import { startScriptedConsole } from './support/scripted-console.ts'

// Takes the pictures in docs/operate.md anew: every page, in light and in dark, of a gateway with some history.

const SCHEMES = ['light', 'dark'] as const
const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))

await mkdir(FOLDER, { recursive: true })
for (const file of await readdir(FOLDER)) await rm(`${FOLDER}${file}`)

const scripted = await startScriptedConsole({ keys: 8, requests: 8 })
const browser = await openBrowser(BROWSER_PATH ?? '')
const page = await browser.newPage({ viewport: { width: 1000, height: 640 }, deviceScaleFactor: 1 })
const session = await page.context().newCDPSession(page)
await page.goto(scripted.address)
for (const [name, { path, text }] of Object.entries(PICTURED)) {
  await page.goto(`${scripted.origin}/#/${path}`)
  await page.getByText(text).first().waitFor()
  await page.evaluate('scrollTo(0, 0)')
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme })
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 40 })
    await writeFile(`${FOLDER}${pictureOf(name, colorScheme)}`, Buffer.from(data, 'base64'))
  }
}
await browser.close()
scripted.close()
