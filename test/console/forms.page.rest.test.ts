import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { until } from '../support/wait.ts'
import { faultsIn } from './support/browser.ts'
import { keyboardOf } from './support/keyboard.ts'
import { sampleAccount, sampleCatalog, sampleKey } from './support/samples.ts'
import type { ScriptedConsole } from './support/scripted-console.ts'
import { inBrowser, openScriptedPage, type ScriptedPage } from './support/scripted-page.ts'

const KEY_PAGE = `keys/${sampleKey(1).id}`
const SECRET = `sk-${'Zx9'.repeat(12)}`
const BLANK = '‹write the secret anew›'

inBrowser('forms of the console', () => {
  let opened: ScriptedPage
  let page: Page
  let scripted: ScriptedConsole

  beforeAll(async () => {
    opened = await openScriptedPage(axe.source)
    ;({ page, scripted } = opened)
    page.setDefaultTimeout(15_000)
  })
  afterAll(() => opened?.close())
  let start = 0
  beforeEach(async () => {
    start = scripted.asked.length
    await page.unrouteAll()
    await page.evaluate(
      'sessionStorage.clear(), Object.keys(localStorage).filter((name) => /draft/.test(name)).forEach((name) => localStorage.removeItem(name))',
    )
    await visit('overview')
    await reload()
  })

  const dialog = () => page.getByRole('dialog').first()
  const button = (name: string, of: Page = page) => of.getByRole('button', { name, exact: true })
  const press = (name: string) => button(name).click()
  const sees = (text: string | RegExp, of: Page = page) => of.getByText(text).first().waitFor()
  const draft = (of: Page = page) => of.getByRole('textbox', { name: 'Draft' })
  const bodies = () =>
    scripted.asked
      .slice(start)
      .filter(({ method }) => method !== 'GET')
      .map(({ body }) => JSON.parse(body))
  const storage = () => page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])')
  const answering = (path: string, status: number, body: object) =>
    page.route(`**/admin/v1/${path}`, (route) => route.fulfill({ status, json: body }))

  const reload = async () => {
    await page.reload()
    await page.locator('h1').waitFor()
    await page.locator('main', { hasNotText: 'Loading…' }).waitFor()
  }

  async function visit(path: string): Promise<void> {
    await page.goto(`${scripted.origin}/#/${path}`)
    await page.locator('main', { hasNotText: 'Loading…' }).waitFor()
  }

  test('the draft of a catalog survives leaving, reloading and a second tab, where it goes on; it is kept without secrets, which it says, and thrown away for all', async () => {
    await visit('catalog')
    await press('Edit')
    const typed = (await draft().inputValue())
      .replace('"output": "0.72"', '"output": "0.73"')
      .replace(/"apiKey": "[^"]*"/, `"apiKey": "${SECRET}"`)
      .replace('"models": [', '"headers": { "X-Team-Token": "hush-\\"hush" },\n  "models": [')
      .replace(
        '"models": [',
        '"names": ["xai-grok-4", "pplx-70b-online", "xai-grok-4-fast-non-reasoning"],\n  "models": [',
      )
    await draft().fill(typed)
    expect(await storage()).not.toMatch(/Zx9Zx9|hush/)
    await visit('routes')
    await visit('catalog')
    expect(await draft().inputValue()).toContain('"output": "0.73"')
    await reload()
    await draft().waitFor()
    const kept = await draft().inputValue()
    expect(kept).toBe(typed.replace(SECRET, BLANK).replace('hush-\\"hush', BLANK))
    await page.locator('.notice', { hasText: BLANK }).waitFor()
    expect(await button('Check').isDisabled()).toBe(true)
    const other = await page.context().newPage()
    await other.goto(`${scripted.origin}/#/catalog`)
    await draft(other).fill(kept.replace('0.73', '0.74').replaceAll(BLANK, 'env:KEY'))
    await button('Check', other).click()
    await sees('It changes:', other)
    await page.waitForFunction("document.querySelector('#draft').value.includes('0.74')")
    await button('Discard', other).click()
    await draft().waitFor({ state: 'detached' })
    await other.close()
    await reload()
    await button('Edit').waitFor()
    expect(await storage()).not.toContain('0.74')
  })

  test('a name that begins like a key is kept as it was typed; in place of a key that was typed, the draft asks for it before it is sent', async () => {
    const name = () => dialog().getByLabel('Name', { exact: true })
    const create = () => button('Create').isEnabled()
    for (const [typed, kept] of [
      ['pk-production', 'pk-production'],
      [`of ${SECRET}`, `of ${BLANK}`],
    ] as const) {
      await visit('keys')
      await press('Create key')
      await name().fill(typed)
      expect(await create()).toBe(true)
      await page.keyboard.press('Escape')
      await reload()
      await press('Create key')
      await sees('You typed this before')
      expect([await name().inputValue(), await create()]).toEqual([kept, typed === kept])
      if (typed === kept) await page.keyboard.press('Escape')
    }
    await page.locator('.notice', { hasText: BLANK }).waitFor()
    await name().fill('of nobody')
    expect(await create()).toBe(true)
    await press('Start afresh')
    await page.keyboard.press('Escape')
    await visit('playground')
    await page.getByLabel('Message').fill(`Is ${SECRET} leaked?`)
    expect(await storage()).not.toContain('Zx9Zx9')
    await reload()
    expect(await page.getByLabel('Message').inputValue()).toBe(`Is ${BLANK} leaked?`)
    expect(await button('Send').isDisabled()).toBe(true)
  })

  test('a draft that is older than what is in force says so, and shows what was changed since', async () => {
    await visit('catalog')
    await press('Edit')
    await draft().fill((await draft().inputValue()).replace('"output": "0.72"', '"output": "0.75"'))
    expect(await page.getByRole('region', { name: 'An older draft' }).count()).toBe(0)
    await answering('catalog', 200, { ...sampleCatalog, version: 9 })
    await reload()
    const older = page.getByRole('region', { name: 'An older draft' })
    await older.getByText('begun on version 7').waitFor()
    await older.getByText('Changed since version 7').click()
    await older.getByText('~ model gpt-4o-mini').waitFor()
    expect(scripted.asked.some(({ url }) => url.endsWith('/catalog/versions/9?against=7'))).toBe(true)
    expect((await faultsIn(page, { colorScheme: 'light', width: 1280 }, 'main')).wrong).toEqual([])
    await press('Discard')
    await page.unrouteAll()
  })

  test.each([
    ['keys', 'Create key', 'Name', 'half a name'],
    ['keys', 'Create key', 'External id', 'cus_half'],
    ['accounts', 'Create customer', 'E-mail', 'ann@acme'],
    [KEY_PAGE, 'Grant credits', 'Reference', 'INV-7'],
    [KEY_PAGE, 'Change settings', 'Note', 'half a note'],
    [`accounts/${sampleAccount().id}`, 'Add key', 'Note', 'half a note'],
    ['catalog', 'Create plan', 'Factor', '1.5'],
    ['catalog', 'Roll back to 6…', 'Note', 'because'],
  ])(
    'on the page %s, "%s" keeps its %s when it is closed, left or loaded again, says so, and begins afresh',
    async (path, opener, label, text) => {
      await visit(path)
      await press(opener)
      const field = dialog().getByLabel(label, { exact: true })
      const before = await field.inputValue()
      await field.fill(text)
      await page.keyboard.press('Escape')
      await dialog().waitFor({ state: 'detached' })
      for (const away of [() => visit('routes'), () => reload()]) {
        await away()
        await visit(path)
        await press(opener)
        await sees('You typed this before')
        expect(await field.inputValue()).toBe(text)
        await page.keyboard.press('Escape')
      }
      await press(opener)
      await press('Start afresh')
      expect(await field.inputValue()).toBe(before)
      await page.keyboard.press('Escape')
      await press(opener)
      expect(await dialog().getByText('You typed this before').count()).toBe(0)
      await page.keyboard.press('Escape')
    },
  )

  test('several keys are granted the amount that was typed before, and the words of a revocation are typed anew', async () => {
    await visit('keys')
    for (const [act, label, text, then] of [
      ['Grant…', 'Credits for each', '7', '7'],
      ['Revoke…', 'Type revoke 1 to go on', 'revoke 1', ''],
    ] as const) {
      await page.getByLabel('Select customer 3', { exact: true }).check()
      await press(act)
      await dialog().getByLabel(label).fill(text)
      await page.keyboard.press('Escape')
      await page.getByLabel('Select customer 3', { exact: true }).check()
      await press(act)
      expect(await dialog().getByLabel(label).inputValue()).toBe(then)
      await page.keyboard.press('Escape')
    }
  })

  test('a message for a model survives leaving the playground', async () => {
    await visit('playground')
    await page.getByLabel('Message').fill('a long question')
    await visit('routes')
    await reload()
    await visit('playground')
    expect(await page.getByLabel('Message').inputValue()).toBe('a long question')
  })

  test('what was sent does not come back, even if its answer was lost: it would be done twice', async () => {
    await visit(KEY_PAGE)
    for (const isLost of [false, true]) {
      await press('Grant credits')
      expect(await dialog().getByLabel('Credits').inputValue()).toBe('')
      await dialog().getByLabel('Credits').fill('5')
      scripted.loseNextAnswer = isLost
      await dialog().getByRole('button', { name: 'Grant', exact: true }).click()
      if (isLost) {
        await sees('It is not known whether this was done')
        await page.keyboard.press('Escape')
      }
      await dialog().waitFor({ state: 'detached' })
    }
    await press('Grant credits')
    expect(await dialog().getByLabel('Credits').inputValue()).toBe('')
    expect(await storage()).not.toContain(' grant ')
  })

  test('a question about a second equal grant is answered by keyboard alone: Escape is no, and Enter on the button is yes', async () => {
    await visit(KEY_PAGE)
    const keyboard = keyboardOf(page)
    const focused = () =>
      page.evaluate<string>('document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent')
    const grants = () =>
      scripted.asked.slice(start).filter(({ url, method }) => /grants$/.test(url) && method === 'POST')
    for (const answer of ['Escape', 'Enter'] as const) {
      await button('Grant credits').focus()
      await page.keyboard.press('Enter')
      await keyboard.type('Credits', '77')
      await page.keyboard.press('Enter')
      await sees('this is the same again')
      await until(async () => (await focused()) === 'Credits')
      if (answer === 'Escape') expect(grants()).toHaveLength(1)
      else await keyboard.tabTo('Grant all the same')
      await page.keyboard.press(answer)
      await dialog().waitFor({ state: 'detached' })
      await until(async () => (await focused()) === 'Grant credits')
    }
    // Asked twice; asked once more when the answer is yes, lest another question has come up.
    const strict = 'handling=strict'
    expect(grants().map(({ headers, body }) => [headers.prefer, body])).toEqual(
      [strict, strict, strict, ''].map((prefer) => [prefer, '{"credits":"77"}']),
    )
  })

  test('Enter in a picker in which nothing was chosen sends no form: a key without models has every model', async () => {
    await visit('keys?act=create')
    await dialog().getByLabel('Name', { exact: true }).fill('careful')
    await dialog().getByLabel('Models', { exact: true }).click()
    await page.getByRole('searchbox', { name: /^Find models/ }).press('Enter')
    await page.keyboard.type('gpt-4o-mini')
    await page.keyboard.press('Enter')
    expect(bodies()).toEqual([])
    await page.keyboard.press('Enter')
    await until(async () => bodies().length === 1)
    expect(bodies()).toMatchObject([{ name: 'careful', models: ['gpt-4o-mini'] }])
  })

  test('kept changes of settings stand on top of those that others made meanwhile, and only they are sent', async () => {
    const { id } = sampleKey(5)
    await visit(`keys/${id}`)
    await press('Change settings')
    await dialog().getByLabel('Note', { exact: true }).fill('mine')
    await page.keyboard.press('Escape')
    scripted.changeByAnother(id, { rpm: 777 })
    await reload()
    await press('Change settings')
    expect(await dialog().getByLabel('Requests a minute').inputValue()).toBe('777')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(bodies()).toEqual([{ note: 'mine' }])
  })

  test.each([
    ['keys', 'Create key', 'Create', 'Requests a minute', 'many', 'Requests a minute must be a whole number.'],
    ['keys', 'Create key', 'Create', 'Name', '', 'Name is missing.'],
    [KEY_PAGE, 'Grant credits', 'Grant', 'Credits', '1,5', /^Credits must be a plain decimal/],
    ['catalog', 'Create plan', 'Create', 'Factor', 'x', /^Factor must be a decimal/],
  ])(
    'on the page %s, "%s": a text that cannot be so is named at its field, and nothing is sent',
    async (path, opener, verb, label, text, words) => {
      await visit(path)
      await press(opener)
      if (label !== 'Name' && path !== KEY_PAGE) await dialog().getByLabel('Name', { exact: true }).fill('named')
      const field = dialog().getByLabel(label, { exact: true })
      await field.fill(text)
      await dialog().getByRole('button', { name: verb, exact: true }).click()
      await sees(words)
      const told = `document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent`
      expect(await page.evaluate(told)).toMatch(words)
      expect(bodies()).toEqual([])
      expect((await faultsIn(page, { colorScheme: 'dark', width: 1280 }, 'dialog')).wrong).toEqual([])
      await field.fill('2')
      expect(await dialog().getByText(words).count()).toBe(0)
    },
  )

  test.each([
    [
      'external_id',
      'External id',
      "The external id 'cus_5' is that of the key 'acme'.",
      "The external id 'cus_5' is that of the key 'acme'.",
    ],
    ['expires_at', 'Expires', "'expires_at' must be later than now.", 'Expires must be later than now.'],
    ['models', 'Models', "'models' may have at most 50 models.", 'Models may have at most 50 models.'],
    ['credits', 'Credits to begin with', "'credits' is too much.", 'Credits to begin with is too much.'],
  ])(
    'a refusal of %s stands at its field, which has the focus, by the name of its label',
    async (param, label, message, words) => {
      await visit('keys')
      await press('Create key')
      await dialog().getByLabel('Name', { exact: true }).fill('refused')
      await answering('keys', 400, { error: { message, type: 'invalid_request_error', param, code: null } })
      await dialog().getByRole('button', { name: 'Create', exact: true }).click()
      await sees(words)
      expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe(label)
      const text = await dialog().innerText()
      expect(text).not.toMatch(/[a-z]+_[a-z]+: |'[a-z]+_[a-z]+'|req_/)
      expect(text.split(words)).toHaveLength(2)
    },
  )

  test('a model that the catalog lacks is told once, also when the server asks about it', async () => {
    await visit('keys')
    await press('Create key')
    await dialog().getByLabel('Name', { exact: true }).fill('asked')
    await dialog().getByLabel('Models', { exact: true }).click()
    await page.getByRole('searchbox', { name: /^Find models/ }).fill('gpt-5o')
    await page.keyboard.press('Enter')
    await sees('The catalog has no model gpt-5o.')
    await page.keyboard.press('Escape')
    const message = "The catalog has no model 'gpt-5o'.\nNothing was changed."
    const error = { message, type: 'conflict_error', param: 'models', code: 'needs_confirmation' }
    await answering('keys', 409, { error })
    await dialog().getByRole('button', { name: 'Create', exact: true }).click()
    await sees(/Nothing was changed/)
    expect((await dialog().innerText()).match(/The catalog has no model/g)).toHaveLength(1)
  })

  test('a plan that another push came before is made over that one, when it is tried again', async () => {
    await visit('catalog')
    await press('Create plan')
    await dialog().getByLabel('Name', { exact: true }).fill('silver')
    const message = 'root pushed version 9 while you looked at 7.'
    await answering('catalog', 200, { ...sampleCatalog, version: 9 })
    const error = { message, type: 'conflict_error', param: null, code: 'stale_version' }
    await page.route('**/admin/v1/plans', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 412, json: { error } }) : route.fallback(),
    )
    const [first] = await Promise.all([
      page.waitForRequest((one) => one.method() === 'POST'),
      dialog().getByRole('button', { name: 'Create', exact: true }).click(),
    ])
    await sees(message)
    await page.locator('main').getByText('Version 9 is in force').waitFor()
    const [second] = await Promise.all([page.waitForRequest((one) => one.method() === 'POST'), press('Try again')])
    expect([first, second].map((one) => one.headers()['if-match'])).toEqual(['"7"', '"9"'])
    expect(second.postData()).toBe(first.postData())
  })

  test('models, a plan and an end are chosen; a pattern is typed, and a model that the catalog lacks is told at once', async () => {
    await visit('keys')
    await press('Create key')
    await dialog().getByLabel('Name', { exact: true }).fill('chosen')
    await dialog().getByLabel('Models', { exact: true }).click()
    await page.locator('.options').getByText('claude-sonnet').click()
    await page.getByRole('searchbox', { name: /^Find models/ }).fill('gpt-* gpt-5o')
    await page.keyboard.press('Enter')
    await sees('The catalog has no model gpt-5o.')
    await page.getByRole('searchbox', { name: /^Find models/ }).fill('gpt-5o')
    await page.keyboard.press('Enter')
    await dialog().getByText('The catalog has no model').waitFor({ state: 'detached' })
    expect((await faultsIn(page, { colorScheme: 'light', width: 360 }, 'dialog')).wrong).toEqual([])
    await page.keyboard.press('Escape')
    await dialog().getByLabel('Plan', { exact: true }).click()
    await page.locator('.options').getByText('gold').click()
    await dialog().getByLabel('Expires', { exact: true }).click()
    await page.locator('.options').getByText('in 1 year').click()
    await dialog().getByRole('button', { name: 'Create', exact: true }).click()
    await press('I have stored it')
    const [{ models, plan, expires_at }] = bodies()
    expect([models, plan]).toEqual([['claude-sonnet', 'gpt-*'], 'gold'])
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 365 * 86_400_000)).toBeLessThan(60_000)
  })

  test('an end is a moment in the zone that the page shows, as it is in the time of changes', async () => {
    await visit(KEY_PAGE)
    await page.getByLabel('Times', { exact: true }).selectOption('utc')
    await press('Change settings')
    await dialog().getByLabel('Expires', { exact: true }).click()
    await dialog().getByLabel('At (UTC)').fill('2031-02-03T04:05')
    await page.keyboard.press('Escape')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(bodies()).toEqual([{ expires_at: '2031-02-03T04:05:00.000Z' }])
    await visit('changes')
    await press('Range')
    await page.getByLabel('From (UTC)').fill('2026-01-02T00:00')
    await press('Apply')
    await button('Remove Range').waitFor()
    await until(() => scripted.asked.find(({ url }) => /events.*from=2026-01-02T00%3A00%3A00.000Z/.test(url)))
    await press('Remove Range')
    await button('Remove Range').waitFor({ state: 'detached' })
    expect(page.url()).not.toMatch(/from=|to=/)
  })

  test('a catalog that was just put in force, by a server whose clock is ahead, is in force since now', async () => {
    await answering('catalog', 200, { ...sampleCatalog, pushed_at: new Date(Date.now() + 5_000).toISOString() })
    await visit('catalog')
    await sees(/is in force since .*\(now\)/)
    expect(await page.locator('main').innerText()).not.toMatch(/in \d+ seconds?/)
  })

  test('changes are told and found by the words of the page', async () => {
    await visit('changes?q=Requests a minute')
    await sees('Requests a minute: 60 → 120')
    expect(await page.getByRole('table').first().innerText()).not.toMatch(/\b[a-z]+_[a-z_]+: /)
  })
})
