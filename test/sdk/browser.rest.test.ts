import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { buildSync } from 'esbuild'
import type { Page } from 'playwright-core'
import { openBrowser } from '../console/support/browser.ts'
import { listen } from '../support/listen.ts'
import { BROWSER_PATH } from '../support/programs.ts'
import { openBoth } from '../support/stack.ts'
import { say } from '../support/upstream.ts'

// A real browser, which keeps from a page what it may not read.
if (!BROWSER_PATH)
  process.stderr.write('test/sdk/browser.rest.test.ts is skipped: there is no Chromium on this machine.\n')
const inBrowser = BROWSER_PATH ? test : test.skip

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

const { upstream, gateway } = await openBoth()
let page: Page

beforeAll(async () => {
  if (!BROWSER_PATH) return
  const browser = await openBrowser()
  opened.defer(() => browser.close())
  page = await browser.newPage()
  await page.goto(await servePage())
}, 30_000)

/** A page of another origin than the gateway's, with the SDK as a bundler puts it into one. */
async function servePage(): Promise<string> {
  const { outputFiles } = buildSync({
    stdin: { contents: "import OpenAI from 'openai'; globalThis.OpenAI = OpenAI", resolveDir: process.cwd() },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    write: false,
  })
  const html = `<!doctype html><meta charset="utf-8"><script>${outputFiles[0]?.text.replaceAll('</script', '<\\/script')}</script>`
  const server = createServer((_, response) => void response.setHeader('Content-Type', 'text/html').end(html))
  return opened.use(await listen(server)).url.replace('127.0.0.1', 'localhost')
}

declare const OpenAI: typeof import('openai').default

inBrowser(
  'a page of another origin uses the openai SDK, and reads the id, the limits, the cost and refusals',
  async () => {
    upstream.reply = say('Hello there')
    const read = await page.evaluate(
      async (given) => {
        const client = new OpenAI({ ...given, dangerouslyAllowBrowser: true })
        const asked = { model: 'test-model', messages: [{ role: 'user' as const, content: 'Hello' }] }
        const { data, response, request_id } = await client.chat.completions.create(asked).withResponse()
        const names = ['x-request-id', 'x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests', 'x-svc-cost']
        const words: string[] = []
        for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true })) {
          words.push(choices[0]?.delta.content ?? '')
        }
        const stranger = new OpenAI({ ...given, apiKey: 'svc_live_unknown', dangerouslyAllowBrowser: true })
        const { status, code, message, requestID } = await stranger.chat.completions
          .create(asked)
          .catch((error) => error)
        return {
          text: data.choices[0]?.message.content,
          requestId: request_id,
          headers: names.map((name) => response.headers.get(name)),
          streamed: words.join(''),
          response: (await client.responses.create({ model: 'test-model', input: 'Hello' })).output_text,
          refused: { status, code, message, requestID },
        }
      },
      { baseURL: `${gateway.baseUrl}/v1`, apiKey: (await gateway.issue()).secret },
    )
    const requestId = expect.stringMatching(/^req_/)
    expect(read).toEqual({
      text: 'Hello there',
      requestId,
      headers: [requestId, '60', '59', '0.00002'],
      streamed: 'Hello there',
      response: 'Hello there',
      refused: {
        status: 401,
        code: 'invalid_api_key',
        message: expect.stringContaining('Incorrect API key provided'),
        requestID: requestId,
      },
    })
    expect(await gateway.readRow(read.requestId)).toMatchObject({ contract: 'chat', outcome: 'completed' })
  },
)
