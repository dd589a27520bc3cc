import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { until } from '../support/wait.ts'
import { type Keyboard, keyboardOf } from './support/keyboard.ts'
import { REQUEST_ID, sampleKey, sampleNotice, samplePlan } from './support/samples.ts'
import type { Asked, ScriptedConsole } from './support/scripted-console.ts'
import { inBrowser, openScriptedPage, type ScriptedPage } from './support/scripted-page.ts'

inBrowser('an operator without a mouse', () => {
  let opened: ScriptedPage
  let scripted: ScriptedConsole
  let page: Page
  let keyboard: Keyboard

  beforeAll(async () => {
    opened = await openScriptedPage()
    ;({ page, scripted } = opened)
  })
  afterAll(() => opened?.close())
  beforeEach(async () => {
    await page.goto(`${scripted.origin}/#/overview`)
    await page.reload()
    await heading('Overview')
    keyboard = keyboardOf(page)
  })

  /** From the overview on, with at most so many keys; a text that is typed counts as one. */
  function task(name: string, mostKeys: number, run: () => Promise<void>): void {
    test(name, async () => {
      await run()
      expect(keyboard.steps()).toBeLessThanOrEqual(mostKeys)
    })
  }

  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  const dialog = (name: string | RegExp) => page.getByRole('dialog', { name }).waitFor()
  const lastChange = (): Asked | undefined => scripted.asked.findLast(({ method }) => method !== 'GET')
  const bodyOf = (asked: Asked | undefined) => JSON.parse(asked?.body ?? 'null')

  /** Takes the suggestion of the search that has this text. */
  async function jump(text: string, suggestion = text): Promise<void> {
    await keyboard.key('/')
    await keyboard.write(text)
    await page.getByRole('option', { selected: true }).filter({ hasText: suggestion }).waitFor()
    await keyboard.key('Enter')
  }

  /** Goes to the page of a key. */
  async function open(key: string): Promise<void> {
    await jump(key)
    await heading(key)
  }

  /** The dialog is gone, and the focus is at a control or a heading, not lost. */
  async function closed(): Promise<void> {
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await until(() => page.evaluate<boolean>('document.activeElement !== document.body'))
  }

  task('makes a key with 50 credits for three models', 21, async () => {
    await jump('Create k', 'Create key')
    await dialog('Create a key')
    await keyboard.type('Name', 'onboarded')
    await keyboard.type('Credits to begin with', '50.000000001')
    await keyboard.press('Models')
    await keyboard.write('gpt-4o-mini claude-* llama-70b')
    for (const key of ['Enter', 'Enter']) await keyboard.key(key)
    await dialog('The secret of onboarded')
    await keyboard.press('I have stored it')
    await closed()
    expect(bodyOf(lastChange())).toMatchObject({
      name: 'onboarded',
      credits: '50.000000001',
      models: ['gpt-4o-mini', 'claude-*', 'llama-70b'],
    })
  })

  task('rotates a leaked key, whose old secret ends at once', 14, async () => {
    await open('customer 5')
    await keyboard.press('Rotate')
    await dialog('Rotate customer 5')
    await keyboard.tabTo(/goes on working$/)
    await keyboard.key('End')
    await keyboard.press('Rotate')
    await dialog('The secret of customer 5')
    await keyboard.press('I have stored it')
    await closed()
    expect(bodyOf(lastChange())).toMatchObject({ grace_seconds: 0 })
  })

  task('finds out why a request was charged', 3, async () => {
    await jump(REQUEST_ID)
    await page.getByText('Provider cost').first().waitFor()
    expect(await page.locator('main').innerText()).toContain('0.0003456')
  })

  task('finds out who used most yesterday', 15, async () => {
    await usageByKey('Yesterday')
    expect(page.url()).toContain('range=yesterday')
  })

  async function usageByKey(range: string): Promise<void> {
    await jump('usage', 'Usage')
    await heading('Usage')
    await keyboard.press(/^Range: /)
    await keyboard.press(range)
    await page.waitForURL(/range=/)
    await keyboard.press('Group by: Model')
    await keyboard.write('key')
    await keyboard.key('Enter')
    await page.getByRole('table', { name: 'Usage by key' }).waitFor()
  }

  /** Does an act on a key that asks for one text, and returns the body that was sent. */
  async function act(key: number, name: string, field: string | RegExp, text: string) {
    await open(`customer ${key}`)
    await keyboard.press(name)
    await dialog(new RegExp(`customer ${key}`))
    await keyboard.type(field, text)
    await keyboard.key('Enter')
    await closed()
    expect(lastChange()?.url).toContain(`/keys/${sampleKey(key).id}`)
    return bodyOf(lastChange())
  }

  task('raises a limit', 11, async () => {
    expect(await act(4, 'Change settings', 'Requests a minute', '900')).toEqual({ rpm: 900 })
  })

  task('tops a key up', 9, async () => {
    expect(await act(3, 'Grant credits', 'Credits', '25')).toEqual({ credits: '25' })
  })

  task('revokes a key, and the focus is not lost with the button', 13, async () => {
    expect(await act(6, 'Revoke', /^Type its name/, 'customer 6')).toEqual({ confirm: 'customer 6' })
  })

  task('adds a model with its price', 30, async () => {
    await jump('Put a cat', 'Put a catalog in force')
    await page.getByRole('textbox', { name: 'Draft' }).waitFor()
    await keyboard.press('Add a model')
    await keyboard.type('Name for callers', 'fresh')
    await keyboard.type('Input', '7')
    await putInForce()
    const { models } = bodyOf(lastChange())
    expect(models.at(-1)).toMatchObject({ id: 'fresh', price: { input: '7', output: '2' } })
  })

  async function putInForce(note?: string): Promise<void> {
    await keyboard.press('Check', 'back')
    await page.getByRole('region', { name: 'Result of the check' }).waitFor()
    await keyboard.press('Put in force…')
    await dialog('Put this catalog in force?')
    if (note !== undefined) await keyboard.type('Note', note)
    await keyboard.press('Note')
    await closed()
  }

  task('changes a price and rolls it back', 41, async () => {
    await jump('claude-sonnet')
    await page.getByRole('textbox', { name: 'Name for callers' }).waitFor()
    await keyboard.type('Output', '16')
    await putInForce('dearer upstream')
    const { models, note } = bodyOf(lastChange())
    expect([models[1].price.output, note]).toEqual(['16', 'dearer upstream'])
    await keyboard.press('Roll back to 6…')
    await dialog('Roll back to version 6?')
    await page.getByRole('button', { name: 'Roll back', exact: true, disabled: false }).waitFor()
    await keyboard.press('Note')
    await closed()
    expect([lastChange()?.url, lastChange()?.headers['if-match']]).toEqual([
      '/admin/v1/catalog/versions/6/restore',
      '"7"',
    ])
  })

  task('sees the outage of a provider', 3, async () => {
    await jump('routes', 'Routes')
    await heading('Routes')
    await page.getByRole('row').filter({ hasText: 'anthropic' }).filter({ hasText: '31' }).waitFor()
  })

  task('exports the last month for invoices', 22, async () => {
    await usageByKey('Last month')
    const saved = page.waitForEvent('download')
    await keyboard.press('Save as CSV', 'back')
    expect((await saved).suggestedFilename()).toMatch(/^usage-\d{4}-\d\d-01-\d{4}-\d\d-01-by-key\.csv$/)
  })

  task('reads what was changed', 7, async () => {
    await jump('changes', 'Changes')
    await heading('Changes')
    await keyboard.type('Find changes', 'rpm')
    await page.getByText('Requests a minute: 60 → 120').first().waitFor()
    await page.getByRole('row').filter({ hasText: 'catalog.pushed' }).waitFor({ state: 'detached' })
  })

  task('puts a key on a plan', 27, async () => {
    await open('customer 5')
    await keyboard.press('Change settings')
    await dialog(/customer 5/)
    await keyboard.press(/^Plan/)
    await page.getByRole('dialog', { name: 'Plan' }).getByRole('button', { name: samplePlan.name }).waitFor()
    await keyboard.press(new RegExp(`^${samplePlan.name}`))
    await keyboard.tabTo(/^External id/)
    await keyboard.key('Enter')
    await closed()
    expect(bodyOf(lastChange())).toEqual({ plan: samplePlan.name })
  })

  task('suspends three keys at once', 62, async () => {
    await jump('keys', 'Keys')
    await heading('Keys')
    await page.getByRole('row').filter({ hasText: 'customer 4' }).waitFor()
    for (const name of ['customer 3', 'customer 4', 'customer 7']) {
      await keyboard.tabTo(new RegExp(`${name}$`))
      await keyboard.key('Space')
    }
    await keyboard.press('Suspend…', 'back')
    await dialog(/^Suspend 3 keys/)
    await keyboard.press('Suspend 3 keys')
    await page.getByRole('dialog').getByText('suspended').nth(2).waitFor()
    expect(scripted.asked.flatMap(({ url }) => /(key_\w+)\/suspend$/.exec(url)?.[1] ?? []).toSorted()).toEqual(
      [3, 4, 7].map((n) => sampleKey(n).id),
    )
  })

  task('reads a customer’s statement of the last month', 9, async () => {
    await jump('statem', 'Statements')
    await heading('Statements')
    await keyboard.press('Customer')
    await page.getByRole('dialog', { name: 'Customer' }).getByText('acme', { exact: true }).waitFor()
    await keyboard.press(/^acme/)
    await page.getByRole('heading', { name: 'Usage' }).first().waitFor()
    const month = new Date(new Date().setUTCDate(0)).toISOString().slice(0, 7)
    expect(scripted.asked.flatMap(({ url }) => /statements\/([\d-]+)/.exec(url)?.[1] ?? [])).toEqual([month])
  })

  task('sees which notice did not arrive, and why', 3, async () => {
    await jump('notices', 'Notices')
    await heading('Notices')
    await page.getByText(String(sampleNotice.error)).first().waitFor()
  })
})
