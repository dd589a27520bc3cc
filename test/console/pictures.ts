import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { openBrowser } from './support/browser.ts'
import { fileOf, PICTURED, PICTURES, README_PICTURES } from './support/pictured.ts'
import { startScriptedConsole } from './support/scripted-console.ts'

// Takes the pictures of docs/console.md anew: every page at each width, in light and in dark, of a gateway with some
// history; and the README's picture of the console.

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))

await mkdir(FOLDER, { recursive: true })
for (const file of await readdir(FOLDER)) if (file !== README_PICTURES.race) await rm(`${FOLDER}${file}`)

const scripted = await startScriptedConsole({ keys: 8, requests: 8 })
const browser = await openBrowser()
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 })
const session = await page.context().newCDPSession(page)
await page.goto(scripted.address)
for (const picture of PICTURES) {
  await page.setViewportSize({ width: picture.width, height: 800 })
  await page.emulateMedia({ colorScheme: picture.scheme })
  await open(picture.name)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 26 })
  await writeFile(`${FOLDER}${fileOf(picture)}`, Buffer.from(data, 'base64'))
}
await page.emulateMedia({ colorScheme: 'light' })
await page.setViewportSize({ width: 1200, height: 640 })
await open('request')
await page.screenshot({ path: `${FOLDER}${README_PICTURES.console}` })
await browser.close()
await scripted.close()

async function open(name: string): Promise<void> {
  const { path = '', text = '' } = PICTURED[name] ?? {}
  await page.goto(`${scripted.origin}/#/${path}`)
  // The navigation shows where one is as a page is opened, and not as a window changes its size.
  await page.reload()
  await page.getByText(text).first().waitFor()
  await page.evaluate('scrollTo(0, 0)')
}
