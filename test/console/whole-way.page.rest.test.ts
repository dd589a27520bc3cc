import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import OpenAI, { APIError } from 'openai'
import type { Browser } from 'playwright-core'
import { startConsole } from '../../cli/console/start-console.ts'
import type { CatalogModel } from '../../layers/gateway/domain/routing/catalog.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { listKeys, readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { actAt } from '../support/act.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { connectionTo, startSignedAdmin } from '../support/signed-admin.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, say, sse, status, type Upstream } from '../support/upstream.ts'
import { openBrowser, openWatched, type WatchedPage } from './support/browser.ts'
import { type Keyboard, keyboardOf } from './support/keyboard.ts'
import { inBrowser } from './support/scripted-page.ts'

const withCost = (model: CatalogModel): CatalogModel => ({
  ...model,
  routes: model.routes.map((route) => ({ ...route, cost: model.price })),
})

/** An operator's window on a console of her own. */
type Desk = WatchedPage & { readonly keyboard: Keyboard }

inBrowser(
  'an operator without a mouse, the console, its API and the gateway, with nothing scripted between them',
  () => {
    let browser: Browser
    let gateway: TestGateway
    let upstream: Upstream
    let ann: Desk
    let ben: Desk
    let keyId: string
    const stack = new AsyncDisposableStack()
    /** Every secret that was ever shown. */
    const secrets: string[] = []
    /** The complaints of both browsers since they were last asked for. */
    const troubles = () => [ann, ben].flatMap((desk) => desk.troubles.splice(0))
    const logged: string[] = []

    beforeAll(async () => {
      ;[browser, { gateway, upstream }] = await Promise.all([openBrowser(), openBoth()])
      stack.defer(() => browser.close())
      ;[ann, ben] = await Promise.all([sitDown('ann'), sitDown('ben')])
    })
    afterAll(() => stack.disposeAsync())

    async function sitDown(name: string): Promise<Desk> {
      const options = { stage: 'local', caller: name, echoUrl: upstream.url }
      const admin = stack.use(await startSignedAdmin(gateway.tables, gateway.baseUrl, options))
      stack.defer(() => void logged.push(...admin.logged))
      const connection = connectionTo(admin, gateway.baseUrl)
      const address = await startConsole(connection, { port: 0, isReadOnly: false }, stack)
      const watched = await openWatched(browser)
      await watched.page.goto(address)
      await watched.page.getByText('Error rate').waitFor()
      return { ...watched, keyboard: keyboardOf(watched.page) }
    }

    const dialogOf = ({ page }: Desk, name?: string | RegExp) => page.getByRole('dialog', name ? { name } : {})
    const headingOf = ({ page }: Desk, name: string) => page.getByRole('heading', { level: 1, name, exact: true })

    /** Goes by the links at the top, which are behind the heading that a page begins with. */
    async function turnTo(desk: Desk, name: string): Promise<void> {
      await desk.keyboard.press(name, 'back')
      await headingOf(desk, name).waitFor()
    }

    async function openDialog(desk: Desk, opener: string): Promise<void> {
      await desk.keyboard.press(opener)
      await dialogOf(desk).waitFor()
    }

    async function storedSecret(desk: Desk): Promise<string> {
      const dialog = dialogOf(desk, /^The secret of/)
      const secret = (await dialog.locator('.secret').textContent()) ?? ''
      secrets.push(secret)
      await desk.keyboard.press('I have stored it')
      await dialog.waitFor({ state: 'detached' })
      return secret
    }

    const statusWith = async (secret: string | undefined) => (await gateway.post(secret ?? '', HELLO)).status

    test('a key that is made in the page works at the gateway, which only ever gets its hash', async () => {
      const { page, keyboard } = ann
      await turnTo(ann, 'Keys')
      await openDialog(ann, 'Create key')
      await keyboard.type('Name', 'whole way')
      await keyboard.type('External id', 'cus_77')
      await keyboard.type('Credits to begin with', '5')
      await page.keyboard.press('Enter')
      const secret = await storedSecret(ann)
      await page.getByRole('link', { name: 'whole way' }).waitFor()
      expect(await statusWith(secret)).toBe(200)
      keyId = (await keyboardOpens('cus_77')) ?? ''
      expect((await readKey(gateway.tables)(keyId))?.granted).toBe(5_000_000_000n)
    })

    /** Finds it by its external id, and the id is in the address. */
    async function keyboardOpens(externalId: string) {
      await ann.keyboard.find(externalId)
      await headingOf(ann, 'whole way').waitFor()
      return /key_\w+/.exec(ann.page.url())?.[0]
    }

    test('after a rotation the page counts down, shows that the old secret is still used, and ends it before the next call', async () => {
      const { page, keyboard } = ann
      await openDialog(ann, 'Rotate')
      await keyboard.press('Rotate')
      const fresh = await storedSecret(ann)
      const [old] = secrets
      await page.getByText('Nobody has used it since the rotation.').waitFor()
      expect(await statusWith(old)).toBe(200)
      const before = await page.getByRole('timer').textContent()
      await page.getByText('It is still in use:').waitFor()
      expect(before).toMatch(/^(60|59):\d\d$/)
      await page
        .getByRole('timer')
        .filter({ hasNotText: before ?? '' })
        .waitFor()
      await openDialog(ann, 'End now')
      await dialogOf(ann).getByText('It is still in use:').waitFor()
      await keyboard.press('End now')
      await page.getByText('works for another').waitFor({ state: 'detached' })
      expect([await statusWith(old), await statusWith(fresh)]).toEqual([401, 200])
    })

    test('credits that are granted are there at once, in the page and in the books', async () => {
      const { page, keyboard } = ann
      await openDialog(ann, 'Grant credits')
      await keyboard.type('Credits', '2.5')
      await page.keyboard.press('Enter')
      await dialogOf(ann).waitFor({ state: 'detached' })
      await page.getByText('7.50 granted').waitFor()
      expect((await gateway.readKey(keyId)).granted).toBe(7_500_000_000n)
    })

    test('of two operators who change one key, the second is told who was first, and neither change is lost', async () => {
      await ben.keyboard.find('cus_77')
      await headingOf(ben, 'whole way').waitFor()
      for (const desk of [ann, ben]) await openDialog(desk, 'Change settings')
      await ann.keyboard.type('Requests a minute', '90')
      await ben.keyboard.type('Note', 'typed by ben')
      await ann.page.keyboard.press('Enter')
      await dialogOf(ann).waitFor({ state: 'detached' })
      await ben.page.keyboard.press('Enter')
      const meanwhile = dialogOf(ben).getByRole('region', { name: 'Changed meanwhile' })
      expect(await meanwhile.textContent()).toMatch(/ann.*Requests a minute: 60 → 90/)
      expect((await gateway.readKey(keyId)).note).toBeUndefined()
      await ben.keyboard.press('Try again')
      await dialogOf(ben).waitFor({ state: 'detached' })
      expect(await gateway.readKey(keyId)).toMatchObject({ rpm: 90, note: 'typed by ben' })
      expect(troubles()).toEqual([expect.stringContaining('412')])
    })

    test('the request id in an error of the openai SDK leads to the charge, line by line', async () => {
      upstream.reply = sse([chunk({ role: 'assistant', content: 'Hel' })])
      const client = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: secrets.at(-1) ?? '', maxRetries: 0 })
      const stream = await client.chat.completions.create({
        ...HELLO,
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
      })
      const error = await Array.fromAsync(stream).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(APIError)
      const { requestID } = error as APIError
      await ann.keyboard.find(requestID ?? '')
      const { page } = ann
      await page.getByRole('heading', { name: 'The charge' }).waitFor()
      const charge = page.getByRole('table', { name: 'The charge, line by line' })
      const row = await gateway.readRow(requestID)
      expect(row).toMatchObject({ outcome: 'upstream_error', completionTokens: 1 })
      expect(await charge.getByRole('row').allTextContents()).toEqual([
        'WhatCountPriceAmount',
        'prompt101 per million0.00001',
        'completion12 per million0.000002',
        'Charged0.000012',
      ])
      upstream.reply = say('Hello')
    })

    test('an answer is streamed in the playground, and its link leads to its waybill', async () => {
      const { page, keyboard } = ann
      await turnTo(ann, 'Playground')
      await keyboard.press('Send')
      await page.locator('.answer', { hasText: 'Hello' }).waitFor()
      await page.getByText('0.00002 credits').waitFor()
      await keyboard.press(/^req_/)
      await page.getByRole('table', { name: 'The charge, line by line' }).waitFor()
      await page.getByRole('link', { name: 'playground of ann' }).waitFor()
    })

    test('a fault in a catalog is shown by its model and field; mended, its diff is seen and put in force, and rolled back', async () => {
      const { page, keyboard } = ann
      await turnTo(ann, 'Catalog')
      await page.getByText('is in force since').waitFor()
      await keyboard.press('Edit')
      const draft = page.getByRole('textbox', { name: 'Draft' })
      const before = await draft.inputValue()
      await keyboard.type('Draft', before.replace('"output": "2"', '"output": "-3"'))
      await keyboard.press('Check')
      const result = page.getByRole('region', { name: 'Result of the check' })
      await result.getByText('test-model: price.output', { exact: true }).waitFor()
      await keyboard.tabTo('Draft', 'back')
      await keyboard.type('Draft', before.replace('"output": "2"', '"output": "3"'))
      await keyboard.press('Check')
      await result.getByText('output 2 → 3').waitFor()
      await openDialog(ann, 'Put in force…')
      await keyboard.press('Put in force')
      await dialogOf(ann).waitFor({ state: 'detached' })
      await page.getByText('Version 2 is in force').first().waitFor()
      await openDialog(ann, 'Roll back to 1…')
      await dialogOf(ann).getByText('output 3 → 2').waitFor()
      await keyboard.press('Roll back')
      await dialogOf(ann).waitFor({ state: 'detached' })
      await page.getByText('Version 3 is in force').first().waitFor()
      await turnTo(ann, 'Changes')
      await page.getByRole('cell', { name: 'catalog.rolled_back' }).waitFor()
    })

    test('a plan is made and changed in the page, also below cost once that was said', async () => {
      const { page, keyboard } = ann
      const plans = async () => (await readStoredCatalog(gateway.tables)())?.data.plans
      const { data } = (await readStoredCatalog(gateway.tables)()) ?? { data: { providers: {}, models: [] } }
      const costly = { ...data, models: data.models.map(withCost) }
      await writeCatalog(gateway.tables)(costly, actAt())
      await turnTo(ann, 'Catalog')
      await openDialog(ann, 'Create plan')
      await keyboard.type('Name', 'gold')
      await keyboard.type('Factor', '1.5')
      await page.keyboard.press('Enter')
      await dialogOf(ann).waitFor({ state: 'detached' })
      await page.getByRole('table', { name: 'Plans' }).getByText('1.5', { exact: true }).waitFor({ timeout: 10_000 })
      await openDialog(ann, 'Change gold…')
      await keyboard.type('Factor', '0.5')
      await page.keyboard.press('Enter')
      await dialogOf(ann).getByText('sells below cost').waitFor()
      expect(await plans()).toMatchObject({ gold: { factor: '1.5' } })
      await keyboard.tabTo('Sell below cost')
      await keyboard.key('Space')
      await keyboard.press('Try again')
      await dialogOf(ann).waitFor({ state: 'detached' })
      expect(await plans()).toMatchObject({ gold: { factor: '0.5' } })
      expect(troubles()).toEqual([expect.stringContaining('409')])
    })

    test('a key is suspended, refused on the next call, and resumed', async () => {
      const { page, keyboard } = ann
      await keyboardOpens('cus_77')
      await openDialog(ann, 'Suspend')
      await page.getByRole('dialog').getByText('until you resume it').waitFor()
      await keyboard.press('Suspend')
      await page.getByText('suspended', { exact: true }).first().waitFor()
      expect(await statusWith(secrets.at(-1))).toBe(403)
      await openDialog(ann, 'Resume')
      await keyboard.press('Resume')
      await page.getByText('active', { exact: true }).first().waitFor()
      expect(await statusWith(secrets.at(-1))).toBe(200)
    })

    test('a key is revoked only when its name is typed, and refused on the next call', async () => {
      const { page, keyboard } = ann
      await keyboardOpens('cus_77')
      await openDialog(ann, 'Revoke')
      expect(await page.getByRole('button', { name: 'Revoke for good' }).isDisabled()).toBe(true)
      await keyboard.type(/^Type its name/, 'whole way')
      await page.keyboard.press('Enter')
      await page.getByText('revoked', { exact: true }).first().waitFor()
      expect(await statusWith(secrets.at(-1))).toBe(401)
    })

    test('after all of this the books balance', async () => {
      await turnTo(ann, 'Books')
      await ann.keyboard.press('Run the ledger check')
      await ann.page.getByText('2 keys, 0 wrong').waitFor()
    })

    test('HTML in the name, the note and the external id of a key, in an error and in a catalog is shown as text on every page, and runs nowhere', async () => {
      const { page, keyboard } = ann
      const evil = '<img src=x onerror=window.ran=1>'
      const { key, secret } = await gateway.issue({
        name: `=${evil}`,
        note: evil,
        externalId: '<b>javascript:ran=1</b>',
      })
      upstream.reply = status(400, { error: { message: evil, type: evil, code: evil } })
      const requestId = (await gateway.post(secret, { ...HELLO, stream: true })).headers.get('x-request-id') ?? ''
      upstream.reply = say('Hello')
      const origin = new URL(page.url()).origin
      for (const path of [
        'keys',
        `keys/${key.id}`,
        `requests/${requestId}`,
        'requests',
        'usage?group_by=key',
        'changes',
        `search?q=${encodeURIComponent(evil)}`,
        `${encodeURIComponent(evil)}`,
        '__proto__',
        'keys/__proto__?sort=constructor',
        'keys?sort=__proto__',
      ]) {
        await page.goto(`${origin}/#/${path}`)
        await page.locator('main', { hasNotText: 'Loading…' }).waitFor()
        const ran = await page.evaluate('[window.ran, document.querySelectorAll("img, b, iframe").length]')
        expect([path, ran]).toEqual([path, [undefined, 0]])
        if (path.startsWith('keys?') || path === 'keys') await page.getByText(`=${evil}`).waitFor()
      }
      await page.goto(`${origin}/#/catalog`)
      await keyboard.press('Edit')
      await keyboard.type('Draft', `{ "providers": { "__proto__": { "a": "${evil}" } }, "models": ["${evil}"] }`)
      await keyboard.press('Check')
      await page.getByRole('region', { name: 'Result of the check' }).waitFor()
      expect(await page.evaluate('[window.ran, document.querySelectorAll("img").length]')).toEqual([undefined, 0])
      await page.goto(`${origin}/#/usage?group_by=key`)
      const [saved] = await Promise.all([page.waitForEvent('download'), keyboard.press('Save as CSV')])
      expect(await text(await saved.createReadStream())).toContain(`'=${evil}`)
      expect(troubles().filter((trouble) => !/ 40[04] /.test(trouble))).toEqual([])
    })

    test('another page on this machine can neither call the console, nor post a form to it, nor load its script, nor frame it', async () => {
      const { origin } = new URL(ann.page.url())
      const foreign = createServer((_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><iframe name="posted"></iframe>')
      })
      await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
      stack.defer(() => void foreign.close())
      const page = await ann.page.context().newPage()
      await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`)
      const before = await Array.fromAsync(listKeys(gateway.tables)())
      const outcome = await page.evaluate(`(async () => {
        const origin = ${JSON.stringify(origin)}
        const told = (answer) => answer.then((response) => response.type + ' ' + response.status, (error) => error.name)
        const body = '{"name":"stolen"}'
        const opaque = { method: 'POST', mode: 'no-cors', credentials: 'include', body }
        const calls = [
          await told(fetch(origin + '/admin/v1/keys')),
          await told(fetch(origin + '/admin/v1/keys', { method: 'POST', headers: { 'X-Waybill-Console': 'x' }, body })),
          await told(fetch(origin + '/console/session', opaque)),
        ]
        const form = document.createElement('form')
        Object.assign(form, { method: 'post', enctype: 'text/plain', action: origin + '/admin/v1/keys', target: 'posted' })
        document.body.append(form)
        form.submit()
        const script = document.createElement('script')
        const loaded = new Promise((resolve) => Object.assign(script, { onload: () => resolve('loaded'), onerror: () => resolve('refused') }))
        script.src = origin + '/console.js'
        document.body.append(script)
        const frame = document.createElement('iframe')
        const framed = new Promise((resolve) => { frame.onload = () => resolve(frame.contentDocument === null ? 'closed' : 'open') })
        frame.src = origin + '/'
        document.body.append(frame)
        return [...calls, await loaded, await framed]
      })()`)
      // Requests without reading come back opaque, for any answer; the browser shows an error in the frame.
      expect(outcome).toEqual(['TypeError', 'TypeError', 'TypeError', 'refused', 'closed'])
      expect(page.frames().every((frame) => !frame.url().startsWith(origin))).toBe(true)
      expect(await Array.fromAsync(listKeys(gateway.tables)())).toHaveLength(before.length)
      await page.close()
    })

    test('no secret is in anything that left the browsers, their addresses and storages, a log, or an item of any table', async () => {
      const kept = await Promise.all(
        [ann, ben].map(async ({ page }) => [
          page.url(),
          await page.content(),
          await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, history.state, document.cookie])'),
        ]),
      )
      const { database, keys, usage, answers } = gateway.tables
      const items = await Promise.all([keys, usage, answers].map((TableName) => database.scan({ TableName })))
      const written = JSON.stringify(items, (_, value) => (typeof value === 'bigint' ? String(value) : value))
      const sent = [...ann.sent, ...ben.sent]
      const traces = { sent, kept: kept.flat(), logged: [...logged, ...gateway.logLines], written: [written] }
      expect(secrets).toHaveLength(2)
      for (const [place, texts] of Object.entries(traces)) {
        expect([place, texts.filter((text) => secrets.some((secret) => text.includes(secret)))]).toEqual([place, []])
      }
      // They are there by their hashes only, so this looked at what it should have.
      expect(written).toContain(keyId)
      expect(sent.join()).toContain(secrets[0]?.slice(-4))
    })

    test('nothing in all of this violated the Content-Security-Policy or left an error in the browser', () => {
      expect([troubles(), logged]).toEqual([[], []])
    })
  },
)
