import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import axe from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import { someOf } from '../support/some-of.ts'
import { until } from '../support/wait.ts'
import { faultsIn } from './support/browser.ts'
import { keyboardOf } from './support/keyboard.ts'
import { PICTURED } from './support/pictured.ts'
import {
  FAILED_REQUEST_ID,
  OPEN_REQUEST_ID,
  REQUEST_ID,
  sampleAccount,
  sampleCatalog,
  sampleKey,
  sampleKeys,
  sampleLine,
  sampleOverview,
  sampleUsage,
} from './support/samples.ts'
import type { Asked, ScriptedConsole } from './support/scripted-console.ts'
import { inBrowser, openScriptedPage, type ScriptedPage } from './support/scripted-page.ts'

const KEY_ID = sampleKey(1).id
const KEY_PAGE = `keys/${KEY_ID}`

/** A text that is there when a page has loaded, by the page's address. */
const PAGES = [
  ...Object.values(PICTURED).map(({ path, text }) => [path, text] as const),
  [`requests/${OPEN_REQUEST_ID}`, 'held until'],
  [`keys/${sampleKey(7).id}`, 'Its balance is that of acme.'],
] as const

const ACCOUNT_PAGE = `accounts/${sampleAccount().id}`

const DIALOGS = [
  ['accounts', 'Create customer'],
  ...['Grant credits', 'Add key', 'Change settings', 'Adopt a key', 'Suspend', 'Close'].map(
    (act) => [ACCOUNT_PAGE, act] as const,
  ),
  ['keys', 'Create key'],
  ['catalog', 'Roll back to 6…'],
  ...['Grant credits', 'Change settings', 'Rotate', 'Suspend', 'Revoke', 'End now'].map(
    (act) => [KEY_PAGE, act] as const,
  ),
] as const

/** The rules whose outcome goes by colours and sizes. All others go by the elements, which are the same in every look. */
const ABOUT_LOOKS = "runOnly: ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block']"

const LOOKS = [
  { colorScheme: 'light', width: 360, rules: '' },
  { colorScheme: 'dark', width: 360, rules: ABOUT_LOOKS },
  { colorScheme: 'light', width: 1280, rules: ABOUT_LOOKS },
  { colorScheme: 'dark', width: 1280, rules: ABOUT_LOOKS },
] as const

inBrowser('the console in a browser', () => {
  let opened: ScriptedPage
  let page: Page
  let dialog: Locator
  let options: Locator
  let scripted: ScriptedConsole
  let troubles: string[]

  beforeAll(async () => {
    opened = await openScriptedPage(axe.source)
    ;({ page, scripted, troubles } = opened)
    dialog = page.getByRole('dialog')
    options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
  })
  let start = 0
  // A test that failed in a dialog must not fail the ones after it.
  beforeEach(async () => {
    start = scripted.asked.length
    if (await dialog.count()) await page.reload()
  })
  afterAll(() => opened?.close())

  async function visit(path: string, text?: string): Promise<void> {
    await page.goto(`${scripted.origin}/#/${path}`)
    if (text) await sees(text)
    await loaded()
  }

  const loaded = () => page.locator('main', { hasNotText: 'Loading…' }).waitFor()
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const titled = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor()
  const closed = () => dialog.waitFor({ state: 'detached' })
  const press = (name: string) => button(name).click()

  async function sees(...texts: readonly (string | RegExp)[]): Promise<void> {
    for (const text of texts) await page.getByText(text).first().waitFor()
  }

  async function keys(...names: readonly string[]): Promise<void> {
    for (const name of names) await page.keyboard.press(name)
  }

  async function fill(texts: Readonly<Record<string, string>>): Promise<void> {
    for (const [label, text] of Object.entries(texts)) await dialog.getByLabel(label, { exact: true }).fill(text)
  }

  /** Fills in the open dialog, and presses its button. */
  async function submit(verb: string, texts: Readonly<Record<string, string>> = {}): Promise<void> {
    await fill(texts)
    await dialog.getByRole('button', { name: verb, exact: true }).click()
  }

  async function saved(name: string) {
    const [file] = await Promise.all([page.waitForEvent('download'), press(name)])
    return { name: file.suggestedFilename(), text: await text(await file.createReadStream()) }
  }

  /** Chromium reports every refusal that a test asked for. */
  function forgive(reason: string): void {
    troubles.splice(0, troubles.length, ...troubles.filter((trouble) => !trouble.includes(reason)))
  }

  /** The faults of this part of the page as it stands, in each colour scheme and at each width. */
  async function faults(part = 'html'): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {}
    for (const look of someOf(LOOKS, 3)) {
      const { wrong, beyond, clipped } = await faultsIn(page, look, part)
      if (wrong.length > 0 || beyond > 0 || clipped.length > 0)
        found[`${look.colorScheme} ${look.width}`] = { wrong, beyond, clipped }
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    return found
  }

  /** Since the test began. */
  const asked = (): Asked[] => scripted.asked.slice(start)
  const changes = () => asked().filter(({ method }) => method !== 'GET')
  const idempotencyKeys = () => new Set(changes().map(({ headers }) => headers['idempotency-key']))
  const queryOf = (url = '') => Object.fromEntries(new URLSearchParams(url.split('?')[1]))

  test.each(PAGES)(
    'the page %s has no axe finding, no sideways scroll bar and no clipped column, in light and dark, at 360 and 1280 px',
    async (path, text) => {
      await visit(path, text)
      expect(await faults()).toEqual({})
    },
  )

  test('a chart is within a narrow page from its first moment, not only once its width is known', async () => {
    await visit('keys')
    await page.setViewportSize({ width: 360, height: 900 })
    await page.evaluate(`
      window.widths = []
      window.watcher = new MutationObserver(() => {
        if (document.querySelector('.chart svg')) window.widths.push(document.documentElement.scrollWidth)
      })
      window.watcher.observe(document.body, { childList: true, subtree: true })
    `)
    await visit('overview', 'customer 3')
    const widths = await page.evaluate<number[]>('window.watcher.disconnect(), window.widths')
    await page.setViewportSize({ width: 1280, height: 900 })
    expect(widths.length).toBeGreaterThan(0)
    expect(Math.max(...widths)).toBe(360)
  })

  test.each(DIALOGS)(
    'on the page %s the dialog of "%s" has no axe finding, closes with Escape and gives the focus back',
    async (path, name) => {
      await visit(path)
      await press(name)
      await dialog.waitFor()
      expect(await faults('dialog')).toEqual({})
      await keys('Escape')
      await closed()
      expect(await page.evaluate('document.activeElement.textContent')).toBe(name)
    },
  )

  test('the overview counts the keys by status, and each count leads to them; the CSV leaves out the calls that the page hides', async () => {
    await visit('overview', 'customer 3')
    await link('1 suspended').click()
    await page.waitForURL(/keys\?status=suspended/)
    await visit('requests', 'rate_limit_exceeded')
    await saved('Save as CSV')
    const csv = asked().find(({ headers }) => headers.accept === 'text/csv')
    expect(csv?.url).not.toContain('calls=')
  })

  test('the launch token leaves the address at once, and every tab of this origin has its session, without a cookie', async () => {
    expect(page.url()).not.toContain('launch')
    expect(await page.evaluate('document.cookie')).toBe('')
    const other = await page.context().newPage()
    await other.goto(`${scripted.origin}/#/keys`)
    await other.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
    // The same machine by another name is another origin, as another port is.
    await other.goto(scripted.origin.replace('127.0.0.1', 'localhost'))
    await other.getByText('console --local').waitFor()
    expect(scripted.asked.filter(({ url }) => url === '/console/session')).toHaveLength(1)
    await other.close()
  })

  test.each([
    ['keys', 'Create key', 'Create', { Name: 'asked twice' }],
    [KEY_PAGE, 'Rotate', 'Rotate', {}],
  ])(
    'on the page %s, "%s" asked for again after a lost answer is the same request, with the same hash',
    async (path, opener, verb, typed) => {
      await visit(path)
      await press(opener)
      scripted.loseNextAnswer = true
      await submit(verb, typed)
      await sees('It is not known whether this was done')
      expect(await dialog.locator('input, select').first().isDisabled()).toBe(true)
      await submit('Try again')
      await press('I have stored it')
      const [first, second, ...more] = changes()
      expect(more).toEqual([])
      expect(second?.body).toBe(first?.body)
      expect(idempotencyKeys().size).toBe(1)
      expect(scripted.keys.filter(({ name }) => name === 'asked twice').length).toBeLessThanOrEqual(1)
      forgive('net::ERR_')
    },
  )

  test('a list of ranges that leaves out the address of the operator is warned of before it is saved', async () => {
    await visit(`keys/${sampleKey(5).id}`)
    await press('Change settings')
    const field = dialog.getByLabel('Allowed from')
    await field.fill('203.0.113.0/24')
    await sees('locks you out: your address, 127.0.0.1')
    await field.fill('203.0.113.0/24\n127.0.0.0/8')
    await page.getByText('locks you out').waitFor({ state: 'detached' })
    await keys('Escape')
  })

  test('the server filters and pages the keys, the filter is in the address, and an order is an order of all of them', async () => {
    scripted.keys.push(...Array.from({ length: 112 }, (_, i) => sampleKey(9 + i)))
    await visit('keys')
    await press('Load more')
    await link('customer 90').waitFor()
    await page.getByLabel('State').selectOption('revoked')
    await link('customer 2').waitFor()
    await loaded()
    expect(page.url()).toContain('status=revoked')
    expect(scripted.asked.some(({ url }) => url.startsWith('/admin/v1/keys?status=revoked'))).toBe(true)
    await visit('keys?status=active&sort=-today')
    await link('customer 120').waitFor()
    expect(await page.getByRole('row').nth(2).textContent()).toContain('customer 119')
  })

  test.each([
    ['keys', 'customer 1', 'keys.csv', 130, 'customer 130'],
    ['keys?status=active&look=low', 'customer 3', 'keys.csv', 43, 'customer 129'],
    ['accounts', 'customer 3', 'customers.csv', 120, 'customer 119'],
    ['accounts?status=suspended', 'customer 0', 'customers.csv', 60, 'customer 118'],
  ])(
    'the file of %s has every row of them, of which the page shows the first',
    async (path, first, name, count, last) => {
      const before = [scripted.keys.splice(0, Infinity, ...sampleKeys(130)), scripted.accounts.splice(0)] as const
      const accountOf = (i: number) =>
        sampleAccount({ id: `acct_${i}`, name: `customer ${i}`, status: i % 2 === 0 ? 'suspended' : 'active' })
      scripted.accounts.push(...Array.from({ length: 120 }, (_, i) => accountOf(i)))
      await visit(path)
      await link(first).first().waitFor()
      const file = await saved('Export CSV')
      scripted.keys.splice(0, Infinity, ...before[0])
      scripted.accounts.splice(0, Infinity, ...before[1])
      const [, ...lines] = file.text.trim().split(/\r?\n/)
      expect([file.name, lines.length]).toEqual([name, count])
      expect(lines.at(-1)).toContain(last)
    },
  )

  test('a list that cannot be read to its end makes no file, and says why', async () => {
    await visit('keys')
    const error = { message: 'It took too long.', type: 'server_error', param: null, code: 'took_too_long' }
    await page.route('**/keys?limit=100*', (route) => route.fulfill({ status: 503, json: { error } }))
    await press('Export CSV')
    await sees('It took too long.')
    await page.unrouteAll()
    forgive('503')
  })

  test.each([
    ['Key', 'customer 5', `account=${sampleAccount().id}`, `key_id=${sampleKey(5).id}`],
    ['Customer', 'acme', `key_id=${sampleKey(5).id}`, `account=${sampleAccount().id}`],
  ])(
    'a %s that is chosen takes the place of the other, with which it would be refused',
    async (chip, name, before, after) => {
      for (const place of ['requests', 'usage', 'invoices', 'statements']) {
        await visit(`${place}?month=2026-10&${before}`)
        await press(chip)
        await page.locator('.options').getByText(name, { exact: true }).click()
        await button(`${chip}: ${name}`).waitFor()
        expect(page.url().split('#')[1]).toBe(`/${place}?month=2026-10&${after}`)
      }
    },
  )

  test('an address with a customer and a key has no statement, of whichever of the two', async () => {
    await visit(`statements?month=2026-10&account=${sampleAccount().id}&key_id=${sampleKey(5).id}`)
    await sees('choose one of the two')
  })

  test('keys are put in order by their heads, and found while typing', async () => {
    await visit('keys')
    const today = async () => (await page.locator('[data-head="Calls today"]').allTextContents()).map(Number)
    for (const [order, compare] of [
      ['descending', (a: number, b: number) => b - a],
      ['ascending', (a: number, b: number) => a - b],
    ] as const) {
      await page.getByRole('link', { name: 'Calls today' }).click()
      await page
        .getByRole('columnheader', { name: 'Calls today' })
        .and(page.locator(`[aria-sort=${order}]`))
        .waitFor()
      await loaded()
      // Once: rows after the first hundred may come in between.
      const told = await today()
      expect(told).toEqual(told.toSorted(compare))
    }
    expect(page.url()).toContain('sort=today')
    await page.getByLabel('Find keys').pressSequentially('cus_7')
    await link('customer 5').waitFor({ state: 'detached' })
    await link('customer 7').waitFor()
    await page.getByLabel('Find keys').fill('nobody')
    await sees('No keys match these filters')
    const badge = page.locator('.badge', { hasText: 'any address' })
    expect(await badge.count()).toBe(0)
    await visit('keys?look=no_allowlist')
    await badge.first().waitFor()
  })

  test('several keys are granted at once after one question, and each is told: a refused one is asked for again, the others are not', async () => {
    const [three, four] = [sampleKey(3), sampleKey(4)]
    scripted.changeByAnother(four.id, { status: 'suspended' })
    await visit('keys')
    for (const { name } of [three, four]) await page.getByLabel(`Select ${name}`, { exact: true }).check()
    await press('Grant…')
    await page.getByRole('dialog', { name: 'Grant credits to 2 keys' }).waitFor()
    await submit('Grant to 2 keys', { 'Credits for each': '5' })
    await sees('5 granted', 'The key is suspended.')
    expect(await faults('dialog')).toEqual({})
    scripted.changeByAnother(four.id, { status: 'active' })
    await submit('Try again')
    await submit('Close')
    const grants = changes().map(({ url, body }) => [url.split('/').at(-2), body])
    expect(grants).toEqual([three.id, four.id, four.id].map((id) => [id, '{"credits":"5"}']))
    forgive('409')
  })

  test('several keys are revoked only when that was typed, each by its own name', async () => {
    const own = [901, 902].map((n) => sampleKey(n, { name: `bulk ${n}` }))
    scripted.keys.unshift(...own)
    await visit('keys?q=bulk')
    await page.getByLabel('Select all keys shown').check()
    await press('Revoke…')
    expect(await button('Revoke for good').isDisabled()).toBe(true)
    await submit('Revoke for good', { 'Type revoke 2 to go on': 'revoke 2' })
    await press('Close')
    expect(changes().map(({ body }) => JSON.parse(body).confirm)).toEqual(own.map(({ name }) => name))
    await page.getByLabel('Select all keys shown').check()
    const file = await saved('Export CSV')
    expect([file.name, file.text.trim().split('\n').length]).toEqual(['keys.csv', 3])
    scripted.keys.splice(0, 2)
  })

  test('several keys are suspended and resumed at once: one that was so before is told and not asked for, a failure says why', async () => {
    const own = [911, 912, 913].map((n) => sampleKey(n, { name: `pause ${n}` }))
    scripted.keys.unshift(...own)
    scripted.changeByAnother(sampleKey(912).id, { status: 'suspended' })
    await visit('overview', 'customer 3')
    await visit('keys?q=pause')
    const paths = () => changes().map(({ url }) => url.split('/').slice(-2).join(' '))
    for (const [act, told] of [
      ['Suspend', ['pause 911 suspended', 'pause 912 was suspended before', 'pause 913 suspended']],
      ['Resume', ['pause 911 resumed', 'pause 912 resumed', 'pause 913 resumed']],
    ] as const) {
      await page.getByLabel('Select all keys shown').check()
      await press(`${act}…`)
      await submit(`${act} 3 keys`)
      await button('Close').waitFor()
      await sees(`${act.replace(/e?$/, 'ed')}: 3 of 3 keys.`)
      expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual(told)
      await press('Close')
      await closed()
      await loaded()
    }
    const [first, second, third] = own.map(({ id }) => id)
    expect(paths()).toEqual([
      ...[`${first} suspend`, `${third} suspend`],
      ...[`${first} resume`, `${second} resume`, `${third} resume`],
    ])
    await page.getByLabel('Select pause 911').check()
    await press('Suspend…')
    scripted.keys.splice(0, 1)
    await submit('Suspend 1 key')
    await sees('There is no such key.', '1 of 1 key failed.', 'Suspended: 0 of 1 key.')
    await keys('Escape')
    scripted.keys.splice(0, 2)
    forgive('404')
  })

  test.each([
    ['requests?model=claude-sonnet&range=7d', 'Requests'],
    ['usage?group_by=user&range=30d', 'Usage'],
    ['keys?status=active&sort=-spent', 'Keys'],
    ['changes?what=key.updated', 'Changes'],
  ])(
    'the address %s gets a name by keyboard alone, which outlives the page, opens it from elsewhere and is removed',
    async (path, title) => {
      const name = `mine of ${title}`
      const keyboard = keyboardOf(page)
      await visit(path)
      // The button of the page before would be pressed.
      await titled(title)
      await keyboard.press('View')
      await page.getByRole('dialog', { name: 'View' }).waitFor()
      await keyboard.write(name)
      await keys('Enter')
      await button(`View: ${name}`).waitFor()
      const other = await page.context().newPage()
      await other.goto(`${scripted.origin}/#/${title === 'Keys' ? 'changes' : 'keys'}`)
      await other.getByRole('button', { name: 'View', exact: true }).press('Enter')
      await other.getByRole('button', { name: new RegExp(`^${name}`) }).press('Enter')
      await other.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      expect(other.url().split('#/')[1]?.split(/[?&]/).toSorted()).toEqual(path.split(/[?&]/).toSorted())
      await other.getByRole('button', { name: 'Remove View' }).press('Enter')
      await other.getByRole('button', { name: 'View', exact: true }).waitFor()
      await other.close()
      expect(await page.evaluate('localStorage.getItem("waybill.views")')).toBe('{}')
    },
  )

  test('a second name leaves the first, and a name that is typed again is kept anew only where it is chosen in quotes', async () => {
    const kept = async () => JSON.parse(await page.evaluate('localStorage.getItem("waybill.views")'))
    const chosen = async (typed: string, choose: () => Promise<void>) => {
      await page.getByRole('group', { name: 'View' }).getByRole('button').first().click()
      await page.getByLabel('Find a view').fill(typed)
      await choose()
      await button(`View: ${typed}`).waitFor()
    }
    const enter = () => keys('Enter')
    await visit('requests?status=4xx')
    await chosen('first of two', enter)
    for (const status of ['429', '5xx']) {
      await visit(`requests?status=${status}`)
      await chosen('first', () => press('“first”'))
      expect(await kept()).toEqual({ 'first of two': '#/requests?status=4xx', first: `#/requests?status=${status}` })
    }
    await visit('requests')
    await chosen('first', enter)
    expect(page.url()).toMatch(/status=5xx$/)
    await press('Remove View')
    await visit('requests?status=4xx')
    await press('Remove View')
    expect(await kept()).toEqual({})
  })

  test('the margin is of what has a cost, a range of days begins with a whole one on every page, and Usage leads to its own requests', async () => {
    const costs = { cost: '1.38', margin: '0.0835', upstream_cost: '0.167' }
    for (const [shown, figures] of [
      ['33.3 %', costs],
      ['–', { cost: '1.38', margin: '0', upstream_cost: '0' }],
    ] as const) {
      const range = { ...sampleOverview.range, ...figures }
      await page.route('**/admin/v1/overview?*', (route) => route.fulfill({ json: { ...sampleOverview, range } }))
      await visit('usage')
      await visit('overview?range=7d', 'attempts in 24 hours')
      await page.locator('.metric', { hasText: 'Margin' }).getByText(shown, { exact: true }).waitFor()
      await page.unrouteAll()
    }
    expect(await page.getByText('Other routes answered').count()).toBe(0)
    const account = sampleAccount().id
    await visit(`usage?range=7d&account=${account}`, 'The model 2')
    const froms = asked().flatMap(({ url }) => (/&account=|overview\?/.test(url) ? [queryOf(url).from] : []))
    const [today] = new Date().toISOString().split('T')
    const weekAgo = new Date(Date.parse(today ?? '') - 6 * 86_400_000).toISOString().slice(0, 10)
    expect(new Set(froms)).toEqual(new Set([weekAgo]))
    const link = page.getByRole('table', { name: 'Usage by model' }).getByRole('link').first()
    const [, query = ''] = (await link.getAttribute('href'))?.split('?') ?? []
    expect(Object.fromEntries(new URLSearchParams(query))).toEqual({ range: '7d', account, model: 'gpt-4o-mini' })
  })

  test('a key’s page begins with its balance and how long it lasts, and its chart leads to the requests of a day', async () => {
    await visit(KEY_PAGE)
    await sees(/^Lasts about \d+ (hours?|days?) at the last week’s rate\.$/)
    expect(scripted.asked.some(({ url }) => url.startsWith(`/admin/v1/usage?key_id=${KEY_ID}`))).toBe(true)
    await titled('Charged by model, 30 days')
    const row = page.getByRole('table', { name: 'Changes' }).getByRole('row', { name: 'key.created' })
    const limit = row.getByText('Requests a day: 10000', { exact: true })
    expect(await limit.isVisible()).toBe(false)
    await row.locator('summary').click()
    await limit.waitFor()
    await page.getByRole('application').focus()
    await keys('ArrowLeft', 'Enter')
    await titled('Requests')
    expect(page.url()).toContain(`key_id=${KEY_ID}`)
  })

  test('Ctrl+K suggests pages, acts, keys and models while typing; the arrows and Enter take one', async () => {
    await visit('overview', 'customer 3')
    await keys('ControlOrMeta+K', 'c')
    for (const text of ['Create key', 'claude-sonnet']) await options.filter({ hasText: text }).waitFor()
    expect(await faults('search')).toEqual({})
    await page.keyboard.type('ustomer 7')
    await options.filter({ hasText: 'cus_7' }).first().waitFor()
    await keys('Enter')
    await titled('customer 7')
    await keys('/', ...'book')
    await options.nth(1).waitFor()
    await keys('ArrowDown')
    const box = page.getByRole('combobox', { name: 'Search pages' })
    expect(await box.getAttribute('aria-activedescendant')).toBe('suggestion-1')
    await keys('Enter')
    await sees('1 key, 1 wrong')
    await keys('/')
    await page.keyboard.type('Create k')
    await keys('Enter')
    await page.getByRole('dialog', { name: 'Create a key' }).waitFor()
    await keys('Escape')
    await closed()
  })

  test('a secret that is typed sign by sign is not asked for before it is whole, and then by its last four', async () => {
    await visit('keys')
    await keys('/')
    await page.keyboard.type(`svc_live_${'R'.repeat(39)}xxx5`, { delay: 20 })
    await options.filter({ hasText: 'customer 5' }).waitFor()
    // A slow machine may ask for the prefix alone, which has no sign of a secret.
    expect(JSON.stringify(asked())).not.toMatch(/RR|svc_live_/)
    await keys('Escape')
  })

  const lists = (some = asked()) =>
    some.filter(({ url }) => url.startsWith('/admin/v1/requests?')).map(({ url }) => queryOf(url))

  test('requests are filtered by a key that is found by its name, by keyboard alone, and a chip is removed by itself', async () => {
    await visit('requests?model=claude-sonnet')
    const keyboard = keyboardOf(page)
    await keyboard.press('Key')
    await page.getByRole('dialog', { name: 'Key' }).waitFor()
    await page.keyboard.insertText('xxx3')
    await keys('Enter')
    await page.locator('.options', { hasText: /^customer 3…xxx3$/ }).waitFor()
    await keys('Enter')
    await button('Key: customer 3').waitFor()
    await loaded()
    expect(lists().at(-1)).toMatchObject({ key_id: sampleKey(3).id, model: 'claude-sonnet' })
    await keyboard.press('Remove Key')
    await button('Key: customer 3').waitFor({ state: 'detached' })
    expect(page.url()).toContain('model=claude-sonnet')
    await press('Model: claude-sonnet')
    expect(await faults('.bar')).toEqual({})
    await keys('Escape')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Model: claude-sonnet')
  })

  test('every filter of requests is one that the server is asked for, and the histogram says which it cannot follow', async () => {
    await visit('requests', 'rate_limit_exceeded')
    for (const [chip, choice] of [
      ['Model', 'claude-sonnet'],
      ['Provider', 'provider-1'],
      ['Status', 'Errors'],
      ['Error code', 'rate_limit_exceeded'],
      ['Endpoint', 'chat.completions'],
      ['Stream', 'not streamed'],
    ] as const) {
      await press(chip)
      const offered = page.getByRole('dialog', { name: chip }).getByRole('button', { name: choice })
      if (chip === 'Status') await sees('also broken streams')
      // The counts of codes are of another range, and of everybody.
      if (chip === 'Error code') expect(await offered.textContent()).toBe(choice)
      await offered.click()
      await button(`Remove ${chip}`).waitFor()
    }
    for (const [chip, unit, from, to] of [
      ['Charged', 'credits', '0.001', '0.5'],
      ['Duration', 'ms', '100', ''],
    ] as const) {
      await press(chip)
      await fill({ [`From (${unit})`]: from, [`To (${unit})`]: to })
      await keys('Enter')
      await button(`Remove ${chip}`).waitFor()
    }
    await sees(
      'Not filtered by provider, status, error code, endpoint, stream, charged, duration',
      'No requests match these filters',
    )
    const { from: _, limit: __, ...filters } = lists().at(-1) ?? {}
    expect(filters).toEqual({
      model: 'claude-sonnet',
      provider: 'provider-1',
      status: 'error',
      error_code: 'rate_limit_exceeded',
      endpoint: 'chat.completions',
      stream: 'false',
      cost_from: '0.001',
      cost_to: '0.5',
      duration_from: '100',
    })
    expect(await faults('main')).toEqual({})
    await link('Clear').click()
    await button('Remove Status').waitFor({ state: 'detached' })
  })

  test('a time is chosen in the histogram by dragging and by keyboard', async () => {
    const { data } = sampleUsage('model', 3, '1h')
    const chart = page.getByRole('application', { name: /^Requests by hour/ })
    const chosen = async () => {
      await page.waitForURL(/from=/)
      const { from, to } = queryOf(page.url())
      return [from, to]
    }
    await visit('requests', 'answered')
    await chart.focus()
    await keys('ArrowRight', 'ArrowRight', 'Shift+ArrowRight', 'Enter')
    expect(await chosen()).toEqual([data[1]?.start_time, data[2]?.end_time])
    await visit('requests')
    await visit('requests', 'answered')
    const box = await chart.locator('svg').first().boundingBox()
    if (!box) throw new Error('There is no histogram.')
    const at = (hour: number) => box.x + 44 + ((box.width - 44) * (hour + 0.5)) / 24
    await page.mouse.move(at(8), box.y + 60)
    await page.mouse.down()
    await page.mouse.move(at(5), box.y + 60, { steps: 3 })
    await page.mouse.up()
    expect(await chosen()).toEqual([data[5]?.start_time, data[8]?.end_time])
    await visit('requests')
    await visit('requests', 'answered')
    // Pointed at before the page is told of the chart’s new width.
    await page.evaluate(`
      const plot = document.querySelector('.histogram .plot')
      plot.style.width = '50%'
      const { left, width } = plot.getBoundingClientRect()
      const clientX = left + 44 + ((width - 44) * 2.5) / 24
      plot.parentElement.dispatchEvent(new MouseEvent('mousemove', { clientX }))`)
    await chart.dispatchEvent('mousedown')
    await chart.dispatchEvent('mouseup')
    expect(await chosen()).toEqual([data[2]?.start_time, data[2]?.end_time])
  })

  test('calls that ask no model are shown only when they are asked for', async () => {
    await visit('requests', 'rate_limit_exceeded')
    const call = page.getByRole('table', { name: 'Requests, newest first' }).getByText('…000006')
    expect(await call.count()).toBe(0)
    await page.getByLabel('Show calls that ask no model').check()
    await call.waitFor()
    expect(page.url()).toContain('calls=all')
  })

  test('a live list marks what came, stands still and says so while it is read, and asks nothing while the page is hidden', async () => {
    /** The lists that are asked for in a little more than the time between two looks. */
    const listsMeanwhile = async () => {
      const from = scripted.asked.length
      await new Promise((resolve) => setTimeout(resolve, 2500))
      return lists(scripted.asked.slice(from)).length
    }
    await visit('requests', 'rate_limit_exceeded')
    await page.mouse.move(5, 5)
    await press('Live')
    scripted.lines.unshift(sampleLine(101))
    await page.locator('tr.new', { hasText: '…000101' }).waitFor()
    await page.getByRole('table', { name: 'Requests, newest first' }).hover()
    await sees('Paused while you read the list')
    scripted.lines.unshift(sampleLine(102))
    expect(await listsMeanwhile()).toBe(0)
    await page.mouse.move(5, 5)
    await page.locator('tr.new', { hasText: '…000102' }).waitFor()
    const hide = (value: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${value}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await hide(true)
    expect(await listsMeanwhile()).toBeLessThanOrEqual(1)
    await hide(false)
    await press('Live')
    scripted.lines.splice(0, 2)
  })

  test('a request says first how it ended, who served it and what it brought; its words are copied without its cost to us', async () => {
    await visit(`requests/${REQUEST_ID}`, 'Provider cost')
    const summary = page.getByRole('region', { name: 'Summary' })
    expect(await summary.textContent()).toContain('200claude-sonnetgpt-4o-mini by openai as gpt-4o-mini-2024-07-18')
    await sees(
      'gpt-4o-mini answered in place of claude-sonnet',
      'to 16,384 tokens, the most that claude-sonnet generates',
      'Fields left out: top_k, safe_prompt',
    )
    expect(await page.locator('.figures > div').allTextContents()).toEqual([
      'Duration6.47 s',
      'First token2.41 s',
      'Tokens a second80.3',
      'Charged0.0003456 credits',
      'Margin0.0000456 13.2 %',
    ])
    const attempts = page.getByRole('table', { name: 'Attempts, in the order tried' })
    expect(await attempts.getByRole('row').nth(1).textContent()).toContain('529answered with an erroroverloaded_error')
    await page.evaluate(
      "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (text) => { window.copied = text } } })",
    )
    await press('Copy for the customer')
    const copied = await page.evaluate<string>('window.copied')
    expect(copied).toContain('0.01 at admission, 0.0096544 given back')
    expect(copied).not.toMatch(/cost us|margin|0\.0000456/i)
  })

  test('a request that failed has nothing green, and says why it is free', async () => {
    await visit(`requests/${FAILED_REQUEST_ID}`, 'upstream_rate_limited')
    expect(await page.locator('.good').count()).toBe(0)
    expect(await page.locator('.headline .bad').textContent()).toBe('503')
    await sees(
      'Charged 0: no provider accepted it, or the provider said that it failed (upstream_rate_limited), and that is free.',
      'is rate limiting us',
    )
    expect(await faults()).toEqual({})
  })

  test('usage has its metric, grouping and time in the address; a time is chosen in the chart, and the table has the sums', async () => {
    await visit('usage', 'The model 2')
    const table = page.getByRole('table', { name: 'Usage by model' })
    const heads = await table.getByRole('columnheader').allTextContents()
    expect(heads.slice(0, 4)).toEqual(['Model', 'Charged', 'Provider cost', 'Margin'])
    expect(await table.getByRole('row').last().textContent()).toMatch(/^All0\.27/)
    await link('Margin').click()
    await titled('Margin by model')
    await link('Errors').click()
    await titled('Errors by model')
    expect(page.url()).toContain('metric=errors')
    await press('Group by: Model')
    await press('Provider')
    await titled('Errors by provider')
    const { data } = sampleUsage('provider', 3)
    await page.getByRole('application').focus()
    await keys('ArrowLeft', 'Shift+ArrowLeft', 'Enter')
    await page.waitForURL(/from=/)
    const { url } = await until(() => asked().find((one) => one.url.startsWith('/admin/v1/usage?bucket=1h')))
    const [from, to] = [data[28]?.start_time, data[29]?.end_time]
    expect(queryOf(url)).toEqual({ bucket: '1h', group_by: 'provider', from, to, top: '7' })
    await link('Latency').click()
    await sees('p95, of all models')
  })

  test('usage by day has one colour, in its table as in its chart', async () => {
    const { data, groups, ...usage } = sampleUsage('day', 3)
    const days = groups.map((one, i) => ({ ...one, group: data[i]?.start_time.slice(0, 10) }))
    await page.route('**/usage?*', (route) => route.fulfill({ json: { ...usage, data, groups: days } }))
    await visit('usage?group_by=day', 'The day 2')
    const colours = `[...document.querySelectorAll('.legend svg, tbody svg')].map(({ outerHTML }) => outerHTML)`
    expect(new Set(await page.evaluate<string[]>(colours)).size).toBe(1)
    await page.unrouteAll()
  })

  test('a leaked secret that is searched for leads to its key by its last four, and is in no address, request or field', async () => {
    await visit('overview', 'customer 3')
    await keyboardOf(page).find(`  svc_live_${'Q'.repeat(39)}xxx5 `)
    await titled('customer 5')
    const traces = [JSON.stringify(asked()), page.url(), await page.content()]
    expect(traces.filter((trace) => trace.includes('QQQQ'))).toEqual([])
    expect(await page.getByRole('combobox', { name: 'Search pages' }).inputValue()).toBe('')
    await page.goBack()
    expect(page.url()).not.toContain('QQQQ')
  })

  test('the playground makes nothing when it is opened; it streams an answer, then tells its tokens, times and charge and links its waybill', async () => {
    await visit('playground')
    await page.getByRole('option', { name: 'claude-sonnet' }).waitFor({ state: 'attached' })
    expect(asked().map(({ url }) => url)).not.toContainEqual(expect.stringMatching(/^.console/))
    expect(changes()).toEqual([])
    for (const [label, text] of [
      ['System prompt', 'Be brief.'],
      ['Temperature', '0.2'],
      ['Max tokens', '50'],
    ] as const)
      await page.getByLabel(label).fill(text)
    await press('Send')
    await sees('Hello from here', '12 / 3', 'First token', '0.0000021')
    await link(REQUEST_ID).waitFor()
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Say hello in five words.' },
    ]
    expect(changes().map(({ body }) => JSON.parse(body))).toMatchObject([
      { messages, temperature: 0.2, max_tokens: 50 },
    ])
  })

  test('the audit shows the keys that are wrong, with a link to what was found', async () => {
    await visit('books')
    // The last audit, or the last run of this window.
    await sees(/^(?:.*: 500 keys, 0|.*1 key, 1) wrong/)
    await press('Run the ledger check')
    await sees('its cost does not follow from its price', '1 key, 1 wrong', '4.90 in 12 rows', '3 findings')
    await link(REQUEST_ID).waitFor()
    expect(await faults('main')).toEqual({})
  })

  const draft = () => page.getByRole('textbox', { name: 'Draft' })

  test('a catalog is put in force only as it was checked, with the version that it was checked against', async () => {
    await visit('catalog')
    await press('Edit')
    expect(await button('Put in force…').isDisabled()).toBe(true)
    await press('Check')
    await sees('It changes:')
    expect(await faults('section[aria-label=Draft]')).toEqual({})
    await draft().fill('{ "models": [] }')
    expect(await button('Put in force…').isDisabled()).toBe(true)
    await press('Check')
    await press('Put in force…')
    await press('Put in force')
    await closed()
    const [put, ...more] = changes().filter(({ url }) => !url.endsWith('/check'))
    expect([put?.method, put?.headers['if-match'], put?.body, more]).toEqual(['PUT', '"7"', '{"models":[]}', []])
  })

  test('a model is edited in a form that writes the JSON, in its author’s order, with the margin beside it', async () => {
    await visit('catalog')
    await sees('0.15', 'Prices by models.dev/api.json of 2026-11-10')
    await press('Edit claude-sonnet')
    const form = page.getByRole('region', { name: 'One model' })
    await form.getByText('−7 %').waitFor()
    expect(await faults('section[aria-label="One model"]')).toEqual({})
    await form.getByLabel('Output', { exact: true }).first().fill('30')
    await form.getByText('50 %').waitFor()
    const written = JSON.stringify(sampleCatalog.source, null, 2)
    expect(await draft().inputValue()).toBe(written.replace('"output": "14"', '"output": "30"'))
    const colours = `['name', 'text', 'value'].map((kind) => CSS.highlights.get(kind).size > 5)`
    expect(await page.evaluate(colours)).toEqual([true, true, true])
    await press('Discard')
  })

  test('a fault of a draft is marked at its line, and leads there', async () => {
    await visit('catalog')
    await press('Edit')
    const before = await draft().inputValue()
    await draft().fill(before.replace('"output": "0.72"', '"output": "-3"'))
    await press('Check')
    const line = before.slice(0, before.indexOf('"output": "0.72"')).split('\n').length
    await press(`Line ${line}`)
    const selected = `(() => { const { value, selectionStart, selectionEnd } = document.activeElement
      return value.slice(selectionStart, selectionEnd).trim() })()`
    expect(await page.evaluate(selected)).toBe('"output": "-3",')
    expect(await page.locator('.gutter mark').textContent()).toBe(`${line}\n`)
    await draft().fill(before.replace('"models": [', '"models": ['.slice(0, -3)))
    await sees('this is not JSON yet')
    await press('Discard')
  })

  test('until a page is loaded the one before stays, and one that cannot be loaded is said so', async () => {
    const other = await page.context().newPage()
    const there = (name: string) => other.getByRole('link', { name, exact: true, includeHidden: true })
    const key = there('customer 5')
    try {
      await other.goto(`${scripted.origin}/#/keys`)
      await key.waitFor()
      const gate = Promise.withResolvers<void>()
      await other.route('**/console-*.js', async (route) => {
        await gate.promise
        await route.abort()
      })
      await there('Routes').click()
      await there('Routes').and(other.locator('[aria-current]')).waitFor()
      expect(await key.isVisible()).toBe(true)
      gate.resolve()
      await other.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
      await there('Keys').click()
      await key.waitFor()
    } finally {
      await other.close()
    }
  })

  test('a route that fails is red and said so first; a change is one line that is found by a text', async () => {
    await visit('routes')
    await sees('claude-sonnet by anthropic failed in 31 of 40 attempts', /may rest, ends/)
    expect(await page.getByRole('row', { name: /openrouter/ }).textContent()).toMatch(/0\.47 s, 1\.94 s2\. 25 %/)
    await page.locator('.badge.bad', { hasText: 'failing' }).waitFor()
    await link('answered with an error').waitFor()
    expect(await page.getByText('300,000').count()).toBe(0)
    await visit('changes')
    await link('customer 3').first().waitFor()
    await page.getByLabel('Find changes').fill('customer 3')
    await sees('Credits: 25')
    await page.getByRole('row', { name: 'key.updated' }).first().waitFor({ state: 'detached' })
  })

  test('a route is tested only after it was asked, because that costs', async () => {
    await visit('routes')
    await press('Test gpt-4o-mini by openrouter')
    await sees('The provider bills it to you.')
    expect(changes()).toEqual([])
    await submit('Test')
    await sees('first token after 90 ms')
    expect(changes()).toHaveLength(1)
  })

  test('what was typed stays when it is refused, and what is asked next is a request of its own', async () => {
    await visit('keys')
    await press('Create key')
    await submit('Create', { Name: 'taken', 'External id': 'cus_5' })
    await sees('Another key has this external id.')
    expect(await dialog.getByLabel('Name').inputValue()).toBe('taken')
    await submit('Try again', { 'External id': 'cus_of_its_own' })
    await press('I have stored it')
    expect(idempotencyKeys().size).toBe(2)
    forgive('409')
  })

  test('500 keys in order, and 30 days by 500 keys, are each painted with little of the processor', async () => {
    scripted.keys.splice(0, Infinity, ...sampleKeys(500))
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    const taken = async () => {
      const { metrics } = await session.send('Performance.getMetrics')
      return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
    }
    for (const [path, text] of [
      ['keys?sort=name', 'customer 500'],
      ['usage?group_by=key', 'The key 499'],
    ] as const) {
      const paint = async () => {
        await visit('changes')
        const before = await taken()
        await page.goto(`${scripted.origin}/#/${path}`)
        await page.getByText(text).waitFor()
        return (await taken()) - before
      }
      // It was 0.8 to 1.0 on a slow machine. A stolen processor is busy, too: the best of a few.
      let seconds = await paint()
      for (let n = 1; n < 3 && seconds >= 1; n++) seconds = Math.min(seconds, await paint())
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThan(3)
    }
    scripted.keys.splice(0, Infinity, ...sampleKeys(8))
  })

  test('on a protected stage no change is sent before somebody has said yes to it', async () => {
    scripted.isProtected = true
    await visit(KEY_PAGE)
    await page.reload()
    await press('Grant credits')
    await submit('Grant', { Credits: '5' })
    expect(await dialog.isVisible()).toBe(true)
    expect(changes()).toEqual([])
    await dialog.getByLabel('Yes, in local').check()
    await submit('Grant')
    await closed()
    expect(changes().map(({ body }) => body)).toEqual(['{"credits":"5"}'])
    scripted.isProtected = false
  })

  test('a grant under a reference that was used before is asked about, and sent with the word', async () => {
    await visit(KEY_PAGE)
    await page.reload()
    await press('Grant credits')
    await submit('Grant', { Credits: '-5', Reference: 'INV-1' })
    await sees('granted credits under this reference')
    await dialog.getByLabel('Grant under this reference again').check()
    await submit('Try again')
    await closed()
    expect(changes().map(({ body }) => body)).toEqual([
      '{"credits":"-5","reference":"INV-1"}',
      '{"credits":"-5","reference":"INV-1","again":true}',
    ])
    expect(idempotencyKeys().size).toBe(2)
    forgive('409')
  })

  test('a console whose server no longer knows the token says how to open another', async () => {
    await page.evaluate("localStorage.setItem('waybill.console', 'of yesterday')")
    await page.goto(`${scripted.origin}/#/keys`)
    await sees('console --local')
    expect(await page.evaluate("localStorage.getItem('waybill.console')")).toBe(null)
    forgive('401')
  })

  test('nothing in all of this violated the Content-Security-Policy or left an error in the browser', () => {
    expect(troubles).toEqual([])
  })
})
