import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { PICTURED } from './support/pictured.ts'
import { sampleKey, sampleKeys, sampleLines, sampleOverview } from './support/samples.ts'
import type { ScriptedConsole } from './support/scripted-console.ts'
import { inBrowser, openScriptedPage, type ScriptedPage } from './support/scripted-page.ts'

const PHONE = { width: 390, height: 844 }
const LAPTOP = { width: 1280, height: 900 }
const SCREENS = [PHONE, LAPTOP, { width: 1440, height: 900 }] as const
const MOST_SCREENS = 10
const KEY_PAGE = `keys/${sampleKey(1).id}`

type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

inBrowser('the layout of the console', () => {
  let opened: ScriptedPage
  let page: Page
  let scripted: ScriptedConsole

  beforeAll(async () => {
    opened = await openScriptedPage()
    ;({ page, scripted } = opened)
    scripted.keys.splice(0, Infinity, ...sampleKeys(50))
    scripted.lines.splice(0, Infinity, ...sampleLines(50))
  })
  afterAll(() => opened?.close())

  async function visit(path: string, text: string, screen: { width: number; height: number } = LAPTOP) {
    await page.setViewportSize(screen)
    await page.goto(`${scripted.origin}/#/${path}`)
    await page.getByText(text).filter({ visible: true }).first().waitFor()
    await page.locator('main', { hasNotText: 'Loading…' }).waitFor()
  }

  async function boxOf(selector: string): Promise<Box> {
    const box = await page.locator(selector).first().boundingBox()
    if (!box) throw new Error(`Nothing is drawn for ${selector}.`)
    return box
  }

  const boxes = (selector: string) =>
    page.evaluate<Box[]>(
      `[...document.querySelectorAll('${selector}')].map((one) => one.getBoundingClientRect().toJSON())`,
    )
  const bottom = ({ y, height }: Box) => Math.round(y + height)
  const right = ({ x, width }: Box) => x + width
  const pageHeight = () => page.evaluate<number>('document.documentElement.scrollHeight')

  test.each(Object.entries(PICTURED))(
    'the page %s does not scroll sideways at 390, 1280 and 1440 px; on a phone the navigation shows it and no tab wraps',
    async (_, { path, text }) => {
      for (const screen of SCREENS) {
        await visit(path, text, screen)
        const { width } = await page.evaluate<Box>(`({ width: document.documentElement.scrollWidth })`)
        expect(width).toBe(screen.width)
        for (const link of await boxes('.pages [aria-current]')) {
          expect(link.x).toBeGreaterThanOrEqual(0)
          expect(right(link)).toBeLessThanOrEqual(screen.width)
        }
        for (const tabs of await boxes('.segments')) expect(tabs.height).toBeLessThan(36)
      }
    },
  )

  test('on a phone the pages are listed again where one is after each step from page to page', async () => {
    await visit('overview', 'customer 3', PHONE)
    for (const name of ['Changes', 'Overview'] as const) {
      const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name })
      await link.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name }).waitFor()
      const box = await link.boundingBox()
      expect(box && box.x >= 0 && right(box) <= PHONE.width).toBe(true)
    }
  })

  test('lists of 50 requests, 50 keys and 50 groups of usage are within ten screens of a phone', async () => {
    for (const [path, text] of [
      ['requests?calls=all', 'rate_limit_exceeded'],
      ['keys', 'customer 5'],
      ['usage?group_by=key', 'The key 2'],
    ] as const) {
      await visit(path, text, PHONE)
      expect(await page.locator('tbody tr').count()).toBe(50)
      expect(await pageHeight()).toBeLessThanOrEqual(MOST_SCREENS * PHONE.height)
    }
    // The numbers still say what they are, without a head above them.
    await visit('keys', 'customer 5', PHONE)
    const shown = "getComputedStyle(document.querySelector('td.number'), '::before').content"
    expect(await page.evaluate(shown)).toContain('Balance')
  })

  test('on a phone the filters are one row, the search and the export another, and numbers end at the same place in each row', async () => {
    const onOneLine = async (selector: string) => new Set((await boxes(selector)).map(bottom)).size
    await visit('keys', 'customer 5', PHONE)
    expect([await onOneLine('.chips > *'), await onOneLine('.bar > input, .bar > .push')]).toEqual([1, 1])
    const ends = async (head: string) => new Set((await boxes(`tbody [data-head="${head}"]`)).map(right)).size
    expect([await ends('Balance'), await ends('Spent'), await ends('Calls today')]).toEqual([1, 1, 1])
    await visit('requests', 'rate_limit_exceeded', PHONE)
    expect(await onOneLine('.chips > *, .bar > .push')).toBe(1)
    await page.getByRole('button', { name: 'Duration', exact: true }).click()
    const panel = await boxOf('.picker-panel')
    expect(panel.x >= 0 && right(panel) <= PHONE.width && panel.height > 100).toBe(true)
    await page.keyboard.press('Escape')
    await visit('overview', 'customer 3', PHONE)
    await page.getByRole('button', { name: 'Range: Last 24 hours' }).click()
    const [range, title] = [await boxOf('.picker-panel'), await boxOf('.title')]
    expect(range.x >= 0 && right(range) <= PHONE.width && range.y < bottom(title) + 40).toBe(true)
    await page.keyboard.press('Escape')
  })

  test('a line of a number has a place for every hour of the range, also for those without requests', async () => {
    const url = '**/admin/v1/overview?*'
    await page.route(url, (route) =>
      route.fulfill({ json: { ...sampleOverview, series: sampleOverview.series.slice(-1) } }),
    )
    await visit('overview', 'customer 3')
    await page.reload()
    const points = await page.locator('a.metric polyline').first().getAttribute('points')
    const heights = points?.split(' ').map((point) => Number(point.split(',')[1])) ?? []
    expect([heights.length >= 24, new Set(heights.slice(0, -2)).size]).toEqual([true, 1])
    expect(Math.min(...heights.slice(-2))).toBeLessThan(heights[0] ?? 0)
    // The chart of latency has it too; one hour by itself is seen.
    await visit('usage?range=24h&metric=latency', 'p95, of all models')
    await page.getByRole('application').focus()
    const told = () => page.locator('.tip').textContent()
    await page.keyboard.press('ArrowRight')
    const first = await told()
    await page.keyboard.press('ArrowLeft')
    for (let hour = 1; hour < 24; hour += 1) await page.keyboard.press('ArrowRight')
    expect([first, await told()]).toEqual([expect.stringMatching(/^\d\d:00$/), expect.stringMatching(/ p95, of all/)])
    expect(await page.locator('.plot circle').count()).toBe(2)
    await page.unroute(url)
  })

  test('on a laptop the buttons of a page are in line with its title, at the right edge of what is below', async () => {
    for (const [path, text] of [
      ['keys', 'customer 5'],
      [KEY_PAGE, 'works for another'],
    ] as const) {
      await visit(path, text)
      const [title, last] = [await boxOf('h1'), (await boxes('.title button')).at(-1)]
      expect(last && right(last)).toBeCloseTo(right(await boxOf('main > :last-child')), 0)
      expect(last && last.y < bottom(title)).toBe(true)
    }
  })

  test.each([600, 640, 768, 900])(
    'at %i px no table of a page is cut: columns of lesser weight leave',
    async (width) => {
      for (const [name, { path, text }] of Object.entries(PICTURED)) {
        await visit(path, text.replace('cus_', ''), { width, height: 900 })
        expect([name, await page.locator('.wider').count()]).toEqual([name, 0])
      }
    },
  )

  test('colours and times are named, and stand beside the name of the gateway on a phone', async () => {
    await visit('keys', 'customer 5', PHONE)
    const home = await boxOf('.home')
    for (const [label, told] of [
      ['Colours', 'Colours: auto'],
      ['Times', 'Times: local'],
    ] as const) {
      const select = page.getByLabel(label, { exact: true })
      expect(await select.locator('option:checked').textContent()).toBe(told)
      const box = await select.boundingBox()
      expect(box && box.y < home.y + home.height && box.y + box.height > home.y).toBe(true)
    }
  })

  test.each([
    ['overview', 'customer 3'],
    [KEY_PAGE, 'works for another'],
  ])(
    'on the page %s cards beside each other end together, and a chart leaves no blank in its card',
    async (path, text) => {
      await visit(path, text)
      const sides = (await boxes('.two > *')).map(bottom)
      expect(sides).toHaveLength(2)
      expect(new Set(sides).size).toBe(1)
      const [card, legend] = [await boxOf('.panel:has(> .chart)'), await boxOf('.legend')]
      expect(bottom(card) - bottom(legend)).toBeLessThan(16)
      expect(Math.max(...(await boxes('.two > .stack > :last-child')).map(bottom), 0)).toBeLessThanOrEqual(
        Math.max(...sides),
      )
    },
  )

  test.each(SCREENS)(
    'at $width px a tooltip is beside its bar, within the page, with a total, and no moment is cut',
    async (screen) => {
      await visit('overview', 'customer 3', screen)
      await page.getByRole('application').focus()
      await page.keyboard.press('Escape')
      const bars = await page.locator('.plot svg > g[opacity], .plot svg > g:has(> rect)').count()
      expect(bars).toBe(24)
      await page.keyboard.press('ArrowRight')
      for (let i = 0; i < bars; i++) {
        const [tip, bar] = [await boxOf('.tip'), await boxOf(`.plot svg > g:has(> rect) >> nth=${i}`)]
        expect(right(tip) <= bar.x || right(bar) <= tip.x).toBe(true)
        expect(tip.x >= 0 && right(tip) <= screen.width).toBe(true)
        expect(await page.locator('.tip').textContent()).toMatch(
          i === bars - 1 ? /^\d\d:00, so far The.*Total 0\.\d+$/ : /^\d\d:00 The.*Total [\d.]+$/,
        )
        await page.keyboard.press('ArrowRight')
      }
      expect(await page.locator('.legend').textContent()).toContain('so far')
      const plot = await boxOf('.plot')
      for (const text of await boxes('.plot text')) expect(right(text)).toBeLessThanOrEqual(right(plot) + 1)
    },
  )

  test('a total is the exact sum of the amounts above it', async () => {
    await visit('usage', 'The model 2')
    await page.getByRole('application').focus()
    await page.keyboard.press('Escape')
    await page.keyboard.press('ArrowRight')
    const told = "[...document.querySelectorAll('.tip data')].map((one) => one.value)"
    const [total = '', ...parts] = (await page.evaluate<string[]>(told)).toReversed()
    const nano = (amount: string) => Math.round(Number(amount) * 1e9)
    expect(parts).toHaveLength(3)
    expect(nano(total)).toBe(parts.reduce((sum, part) => sum + nano(part), 0))
  })

  test('the head of a long table stays in sight, over what scrolls below it, in light and dark; a wide one scrolls by itself', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await visit('requests', 'rate_limit_exceeded')
      await page.evaluate('scrollTo(0, 900)')
      const head = await boxOf('thead th')
      expect(head.y).toBe(0)
      const over = `(() => { const th = document.elementFromPoint(${head.x + 20}, ${head.y + 15}).closest('th'); return getComputedStyle(th).backgroundColor })()`
      // Opaque: it has no fourth part.
      expect(await page.evaluate(over)).toMatch(/^rgb\(\d+, \d+, \d+\)$/)
    }
    const list = page.getByRole('region', { name: 'Requests, newest first' })
    expect(await list.getAttribute('tabindex')).toBe(null)
    // Columns of lesser weight leave first.
    await visit('requests', 'rate_limit_exceeded', { width: 760, height: 900 })
    expect(await list.getAttribute('tabindex')).toBe(null)
    scripted.lines.splice(0, Infinity, ...sampleLines(50).map((line) => ({ ...line, error_code: 'e'.repeat(60) })))
    await page.reload()
    await list.and(page.locator('[tabindex="0"]')).waitFor()
    await page.evaluate("document.querySelector('.scroll').scrollTo(200, 500)")
    expect((await boxOf('tbody tr')).y).toBeLessThan((await boxOf('.scroll')).y)
    expect((await boxOf('thead th')).y).toBeCloseTo((await boxOf('.scroll')).y + 1, 0)
    await page.emulateMedia({ colorScheme: 'light' })
  })

  test.each([LAPTOP, { width: 1280, height: 600 }, PHONE])(
    'at $width × $height px the buttons of a long dialog are in view from its beginning to its end',
    async (screen) => {
      await visit('keys', 'customer 5', screen)
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.locator('dialog .actions').waitFor()
      for (const top of [0, 9999]) {
        await page.evaluate(`document.querySelector('dialog').scrollTo(0, ${top})`)
        const foot = await boxOf('dialog .actions')
        expect(foot.y).toBeGreaterThan(0)
        expect(bottom(foot)).toBeLessThanOrEqual(screen.height)
      }
      await page.keyboard.press('Escape')
    },
  )

  test('on a phone a note is apart from what it is about', async () => {
    await visit('routes', 'answered with an error', PHONE)
    const before = `getComputedStyle(document.querySelector('td .note'), '::before').content`
    expect(await page.evaluate(before)).toBe('" · "')
    await page.setViewportSize(LAPTOP)
    expect(await page.evaluate(before)).toBe('none')
  })

  test('? lists every shortcut, closes with Escape, and is a question mark in a field', async () => {
    await visit('keys', 'customer 5')
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.waitFor()
    const listed = await help.locator('dt').allTextContents()
    expect(listed).toEqual(['/ or Ctrl K or ⌘ K', '?', '↑ ↓', '← →', 'Shift ← →', 'Enter', 'Esc'])
    // A dialog has its own keys.
    await page.keyboard.press('/')
    expect(await page.evaluate('document.activeElement.closest("dialog") !== null')).toBe(true)
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await page.getByLabel('Find keys').focus()
    await page.keyboard.type('?')
    expect(await page.getByLabel('Find keys').inputValue()).toBe('?')
    expect(await help.count()).toBe(0)
  })
})

test('no key is listened to beside the table of shortcuts', () => {
  const files = globSync('console/**/*.{ts,tsx}').filter((file) => !file.endsWith('shortcuts.ts'))
  expect(files.length).toBeGreaterThan(50)
  const own = files.filter((file) => /event\.(?:key|code)\b|ctrlKey|metaKey/.test(readFileSync(file, 'utf8')))
  expect(own).toEqual([])
})
