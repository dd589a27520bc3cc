import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { GUARD_HEADERS } from '../../cli/console/guard.ts'
import { EXAMPLES } from '../../cli/schemas/client-guide.ts'
import { perMillion } from '../../console/parts/numbers.ts'
import { builtPages } from '../../console/usage-page/build.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { Statement } from '../../layers/gateway/domain/rows/statement.ts'
import { publishStatement } from '../../layers/gateway/store/accounts/published-statements.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { Random } from '../simulation/random.ts'
import { actAt } from '../support/act.ts'
import { randomRow } from '../support/past-usage.ts'
import { openBoth } from '../support/stack.ts'
import { faultsIn, openBrowser, openWatched } from './support/browser.ts'
import { inBrowser } from './support/scripted-page.ts'

const HOSTILE = '<img src=x onerror=globalThis.ran=1>'
const random = new Random(3)
/** Behind for a key that is to have a past. */
let behindMs = 0
const { gateway } = await openBoth({ hasUsagePage: true, clock: () => Date.now() - behindMs })

async function usedKey(name: string): Promise<{ secret: string; keyId: string }> {
  behindMs = 7 * DAY_MS
  const { key, secret } = await gateway.issue({ name, rpm: 6000, credits: '25' })
  behindMs = 0
  const times = Array.from({ length: 12 }, (_, i) => Date.now() - 60_000 - i * 0.45 * DAY_MS)
  const rows = times.map((startedAtMs) => ({ ...randomRow(random, key.id, startedAtMs), contract: 'chat' as const }))
  const hostile = { ...randomRow(random, key.id, Date.now() - 1000), contract: 'chat' as const, model: HOSTILE }
  await Promise.all([...rows, hostile].map(putUsageRow(gateway.tables)))
  return { secret, keyId: key.id }
}

test('the page is below 16 KiB gzipped, and its policy is the console’s, with hashes in place of files', () => {
  const { body, headers } = builtPages().usage
  expect(gzipSync(body).length).toBeLessThan(16 * 1024)
  const { 'Content-Type': _, ...guards } = headers
  const policy = guards['Content-Security-Policy']?.replace(/'sha256-[\w+/=]+'/g, "'self'")
  expect({ ...guards, 'Content-Security-Policy': policy }).toEqual(GUARD_HEADERS)
  expect(body).not.toMatch(/localStorage|sessionStorage|indexedDB|document\.cookie|https?:\/\/(?!www\.w3\.org)/)
})

test('GET /usage and HEAD are answered without a key, a read or a row; another method and another path are refused', async () => {
  const before = [gateway.calls.length, gateway.logLines.length]
  const page = await fetch(`${gateway.baseUrl}/usage`)
  expect([page.status, await page.text()]).toEqual([200, builtPages().usage.body])
  expect(page.headers.get('content-security-policy')).toBe(builtPages().usage.headers['Content-Security-Policy'])
  expect(page.headers.get('x-request-id')).toMatch(/^req_/)
  const head = await fetch(`${gateway.baseUrl}/usage`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect([gateway.calls.length, gateway.logLines.length]).toEqual(before)
  expect((await fetch(`${gateway.baseUrl}/usage`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${gateway.baseUrl}/usage/x`)).status).toBe(404)
})

test('a gateway whose settings do not ask for it has no page', async () => {
  const { gateway: without } = await openBoth()
  expect((await fetch(`${without.baseUrl}/usage`)).status).toBe(404)
})

test('a price for a token is shown for a million, digit for digit', () => {
  const prices = ['0.00000015', '0.000001', '1', '0', '0.1234567891']
  expect(prices.map(perMillion)).toEqual(['0.15', '1', '1000000', '0', '123456.7891'])
})

inBrowser('the page in a browser', () => {
  let browser: Browser
  let page: Page
  let troubles: string[]
  let sent: string[]
  let secret: string
  let keyId: string

  beforeAll(async () => {
    browser = await openBrowser()
    ;({ secret, keyId } = await usedKey(`owner ${HOSTILE}`))
    ;({ page, troubles, sent } = await openWatched(browser, axe.source))
  })
  afterAll(() => browser?.close())

  const part = (name: string | RegExp) => page.getByRole('region', { name })

  async function paste(key: string): Promise<void> {
    await page.goto(`${gateway.baseUrl}/usage`)
    await page.getByLabel('Your key').fill(key)
    await page.keyboard.press('Enter')
  }

  async function opened(): Promise<void> {
    await paste(secret)
    await part('Models and prices').getByRole('table').waitFor()
    for (const name of [/by day/, 'By model', 'Last requests'])
      await part(name).getByText('Loading…').waitFor({ state: 'detached' })
  }

  test('a pasted key shows its balance, sums, requests, prices and code, and hostile names as text', async () => {
    await opened()
    expect(await part('Balance').innerText()).toMatch(/25\.00\s+credits/)
    expect(await part('Balance').innerText()).toMatch(/Lasts about \d+ days at the last week’s rate/)
    const sums = (await (await gateway.get(secret, '/v1/usage?group=model')).json()) as { total: { cost: string } }
    const all = part('By model').getByRole('row').last()
    expect(await all.locator('data').getAttribute('value')).toBe(sums.total.cost)
    expect(await part('Last requests').getByRole('row').count()).toBe(14)
    expect(await part('Last requests').innerText()).toContain(HOSTILE)
    expect(await part('Models and prices').innerText()).toMatch(/test-model\s+1\.00/)
    expect(await part('Code').innerText()).toContain(`${gateway.baseUrl}/v1`)
    expect(await page.evaluate('globalThis.ran')).toBeUndefined()
    const days = part(/by day/)
    await days.getByText('As a table').click()
    expect(await days.getByRole('row').count()).toBeGreaterThan(4)
    expect(troubles).toEqual([])
  })

  test.each([
    ['light', 390],
    ['dark', 1280],
  ] as const)(
    'the first page looks like the others and leads to them, without an axe finding: %s, %i px',
    async (colorScheme, width) => {
      await page.goto(gateway.baseUrl)
      expect(await faultsIn(page, { colorScheme, width })).toEqual({ wrong: [], beyond: 0, clipped: [] })
      const colours = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
      const here = await colours()
      await page.getByRole('link', { name: '/usage' }).click()
      await page.getByLabel('Your key').waitFor()
      expect(await colours()).toBe(here)
    },
  )

  test('a statement of its account is saved as a page to print, if the account shows it', async () => {
    const account = await gateway.openAccount({ showsStatements: true, hidesBalance: true })
    await publishStatement(gateway.tables)(account.id, { ...(EXAMPLES.statement as Statement), name: HOSTILE })
    await paste((await gateway.issue({ account })).secret)
    const month = page.getByLabel('Statement of')
    const saving = page.waitForEvent('download')
    await month.fill('2026-10')
    const saved = await saving
    expect(saved.suggestedFilename()).toBe('statement-2026-10.html')
    const text = await readFile(await saved.path(), 'utf8')
    expect([text.includes('Closing balance'), text.includes(HOSTILE)]).toEqual([true, false])
    await month.fill('2026-09')
    await part('Charged').first().getByText('There is no statement of 2026-09').waitFor()
    expect(troubles.filter((trouble) => !trouble.includes('404'))).toEqual([])
    troubles.length = 0
    await paste(secret)
    await part('Balance').waitFor()
    expect(await page.getByLabel('Statement of').count()).toBe(0)
  })

  test('a key of an account shows the balance with the name of the account, and nothing of a hidden one', async () => {
    const account = await gateway.openAccount({ name: `Acme ${HOSTILE}`, credits: '7' })
    await paste((await gateway.issue({ account })).secret)
    const told = await part(`Balance of Acme ${HOSTILE}`).innerText()
    expect(told).toMatch(/7\.00\s+credits\s+0 charged to this key/)
    expect(told).not.toContain('Lasts')
    const hidden = await gateway.openAccount({ credits: '7', hidesBalance: true })
    await paste((await gateway.issue({ account: hidden })).secret)
    expect(await part('Charged').first().innerText()).toContain('0 charged to this key')
    const all = await page.locator('body').innerText()
    expect([all.includes('Balance'), all.includes('7.00')]).toEqual([false, false])
    expect(troubles).toEqual([])
  })

  test('the key is in no storage and no address, only the gateway is called, and a reload or a button forgets it', async () => {
    await opened()
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])',
    )
    expect(kept).not.toContain(secret)
    expect(JSON.parse(kept).slice(0, 3)).toEqual([{}, {}, ''])
    const asked = sent.map((one) => one.split('\n')[0] ?? '')
    expect(asked.filter((url) => !url.startsWith(gateway.baseUrl) && !url.startsWith('data:'))).toEqual([])
    expect(asked.join()).not.toContain(secret)
    await page.reload()
    expect(await page.getByLabel('Your key').inputValue()).toBe('')
    await opened()
    await page.getByRole('button', { name: 'Forget this key' }).click()
    expect(await page.getByLabel('Your key').inputValue()).toBe('')
    expect(await page.locator('body').innerText()).not.toContain('Balance')
  })

  test.each([
    ['light', 390],
    ['dark', 390],
    ['light', 1280],
    ['dark', 1280],
  ] as const)('it has no axe finding and no sideways scroll bar: %s, %i px', async (colorScheme, width) => {
    for (const ready of [() => page.goto(`${gateway.baseUrl}/usage`), opened]) {
      await ready()
      const { wrong, beyond } = await faultsIn(page, { colorScheme, width })
      expect({ wrong, beyond }).toEqual({ wrong: [], beyond: 0 })
    }
    const { PICTURES: folder } = process.env
    if (folder) await page.screenshot({ path: `${folder}/usage-${colorScheme}-${width}.png`, fullPage: true })
  })

  test('refusals and a lost connection are said in words', async () => {
    const said = async () => page.getByRole('alert').first().innerText()
    await paste('svc_live_nobody')
    expect(await said()).toContain('This key is unknown')
    const slow = await gateway.issue({ rpm: 1 })
    await gateway.get(slow.secret, '/v1/credits')
    await paste(slow.secret)
    expect(await said()).toMatch(/Too many requests.*Try again in \d+ s/)
    await page.route('**/v1/**', (route) => route.abort())
    await paste(secret)
    expect(await said()).toContain('No answer came')
    await page.unroute('**/v1/**')
    const few = await gateway.issue({ scopes: ['chat.completions'] })
    await paste(few.secret)
    expect(await part('Models and prices').getByRole('alert').innerText()).toContain('models.read')
    await revokeKey(gateway.tables)(keyId, actAt())
    await paste(secret)
    expect(await said()).toContain('This key is unknown')
  })
})
