import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { RequestLine } from '../../../layers/admin/api/shapes/requests.ts'
import { formatDecimal, parseDecimal } from '../../../layers/gateway/domain/money/money.ts'
import { openBrowser } from '../support/browser.ts'
import { README_PICTURES } from '../support/pictured.ts'
import { TOKENS } from './chat.ts'
import { startGateway } from './gateway.ts'
import { encodeGif, type Frame } from './gif.ts'
import { record, textOf } from './record.ts'
import { CAPTION_HEIGHT, HEIGHT, openStage, pictureBody, WIDTH } from './stage.ts'
import { openTerminal, type Shot } from './terminal.ts'

// Makes the README's moving picture: under the captions is what a real gateway's command line and console showed.

const FILE = fileURLToPath(new URL(`../../../docs/pictures/${README_PICTURES.race}`, import.meta.url))
const PAID_FOR = 10
const RACING = 200

await using stack = new AsyncDisposableStack()
const gateway = await startGateway(stack)
const run = (command: string, env = {}) => record(command, { folder: gateway.folder, env })

const credits = await creditsFor(PAID_FOR)
const created = await run(`waybill keys create --name race --rpm 600 --credits ${credits} --local`)
const secret = /^svc_\w+$/m.exec(textOf(created))?.[0] ?? ''
const raced = await run(`node race.ts ${RACING}`, { WAYBILL_URL: gateway.baseUrl, WAYBILL_KEY: secret })
const audited = await run('waybill audit --local')
const [answered, refused] = [await requestsWith(200), await requestsWith(402)]
if (answered.length !== PAID_FOR || refused.length !== RACING - PAID_FOR) {
  throw new Error(`${answered.length} requests were answered, ${refused.length} refused for want of credits.`)
}

const browser = await openBrowser()
stack.defer(() => browser.close())
const page = await browser.newPage({
  viewport: { width: WIDTH, height: HEIGHT - CAPTION_HEIGHT },
  colorScheme: 'light',
})
await page.goto(gateway.consoleUrl)
const overview = await consoleShot('overview', 'Charged, credits')
const keys = await consoleShot('keys', 'no credits left')
const request = await consoleShot(`requests/${answered[0]?.request_id}`, 'The charge')

const setUp = openTerminal([created])
const proof = openTerminal([raced, audited])
const result = `${PAID_FOR} answered, ${RACING - PAID_FOR} refused, nothing overspent`
const scenes: [caption: string, shots: Shot[], holdMs: number][] = [
  [`A key with ${credits} credits: enough for ${PAID_FOR} requests`, setUp(created, 400), 2200],
  [`${RACING} requests at once`, proof(raced, 3200), 0],
  [result, proof(raced, 1).slice(-1), 2500],
  ['Audit: clean, every credit accounted for', proof(audited, 200), 2500],
  ['The same in the console', [overview], 2000],
  ['All of the credit is spent, and no more', [keys], 2000],
  ['Every charge, line by line', [request], 2500],
  ['Try it: npm ci && npm start', [request], 3000],
]

const draw = await openStage(browser)
const frames: Frame[] = []
for (const [caption, shots, holdMs] of scenes) {
  for (const [i, { body, ms }] of shots.entries()) {
    frames.push({ image: await draw(caption, body), ms: i === shots.length - 1 ? ms + holdMs : ms })
  }
}
const gif = encodeGif(frames, WIDTH, HEIGHT)
await writeFile(FILE, gif)
console.log(`${frames.length} frames, ${frames.reduce((sum, { ms }) => sum + ms, 0) / 1000} s, ${gif.length} bytes`)

/** The most that so many requests can cost, by the price in force. */
async function creditsFor(requests: number): Promise<string> {
  const { catalog } = JSON.parse(textOf(await run('waybill catalog show --local --json')))
  const perMillion = parseDecimal(catalog.models[0].price.output, 6) ?? 0n
  return formatDecimal(BigInt(requests * TOKENS) * perMillion, 12)
}

async function requestsWith(status: number): Promise<RequestLine[]> {
  const { data } = JSON.parse(textOf(await run(`waybill usage list --limit ${2 * RACING} --local --json`)))
  return data.filter(({ http_status }: RequestLine) => http_status === status)
}

async function consoleShot(path: string, text: string): Promise<Shot> {
  await page.goto(`${new URL(gateway.consoleUrl).origin}/#/${path}`)
  await page.getByText(text).first().waitFor()
  await page.getByText('Loading…').waitFor({ state: 'hidden' })
  return { body: pictureBody(await page.screenshot()), ms: 0 }
}
