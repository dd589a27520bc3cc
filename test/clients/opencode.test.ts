import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { blocksOf } from '../documents/support/markdown.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, DONE, type Reply, say, sse, USAGE, usageChunk } from '../support/upstream.ts'
import { closedBooks, installClient, runClient } from './support/install-client.ts'

const installed = await installClient('opencode-ai', '1.18.33', 'opencode')
const opencode = 'file' in installed ? installed.file : ''
if ('missing' in installed) process.stderr.write(`test/clients/opencode.test.ts is skipped: ${installed.missing}.\n`)
const withOpencode = opencode ? test : test.skip

const folder = mkdtempSync(join(tmpdir(), 'waybill-opencode-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The configuration that docs/clients.md gives to paste. */
const CONFIG = blocksOf('docs/clients.md', 'jsonc')[0] ?? ''

const COMMAND = { command: 'printf hi > out.txt', description: 'Writes hi' }

/** Runs a command and then says so; what is asked beside that, such as a title, is answered in one word. */
const scripted: Reply = (response, request) => {
  const hasTools = Array.isArray(request.body.tools) && request.body.tools.length > 0
  const isDone = JSON.stringify(request.body.messages).includes('"role":"tool"')
  if (!hasTools) return say('Note')(response, request)
  if (isDone) return say('It is written.')(response, request)
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'bash', arguments: JSON.stringify(COMMAND) },
  }
  return sse([chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'), usageChunk(USAGE), DONE])(response, request)
}

withOpencode(
  'opencode runs a tool loop to its end, and every call is in the books',
  async () => {
    const { upstream, gateway } = await openBoth()
    upstream.reply = scripted
    const { key, secret } = await gateway.issue()
    const config = CONFIG.replaceAll('https://GATEWAY', gateway.baseUrl).replaceAll('MODEL', 'test-model')
    writeFileSync(join(folder, 'opencode.json'), config)
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      WAYBILL_API_KEY: secret,
      // The list of models of others is of no use here.
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    }
    const args = ['run', 'Write hi into out.txt.']
    const { stdout, stderr } = await runClient(opencode, args, { cwd: folder, env })
    expect(stdout + stderr).toContain('It is written.')
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('hi')
    expect(upstream.requests.length).toBeGreaterThanOrEqual(2)
    const rows = await closedBooks(gateway, key)
    const row = { endpoint: 'chat.completions', contract: 'chat', outcome: 'completed', stream: true, cost: 20_000n }
    expect(rows).toMatchObject(upstream.requests.map(() => row))
  },
  120_000,
)
