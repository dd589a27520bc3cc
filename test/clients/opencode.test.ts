import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { blocksOf } from '../documents/support/markdown.ts'
import { closedBooks } from '../robust/support/exchange.ts'
import { emptyFolder } from '../support/processes.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, DONE, type Reply, say, sse, USAGE, usageChunk } from '../support/upstream.ts'
import { openClient } from './support/client.ts'

const runOpencode = await openClient('opencode-ai', '1.18.33', 'opencode')
const withOpencode = runOpencode ? test : test.skip
const folder = emptyFolder()

/** The configuration that docs/clients.md gives to paste. */
const CONFIG = blocksOf('docs/clients.md', 'jsonc')[0] ?? ''

const COMMAND = { command: 'printf hi > out.txt', description: 'Writes hi' }

/** Runs a command and then says so; what is asked beside that, such as a title, is answered in one word. */
const scripted: Reply = (response, request) => {
  const hasTools = Array.isArray(request.body.tools) && request.body.tools.length > 0
  const isDone = JSON.stringify(request.body.messages).includes('"role":"tool"')
  if (!hasTools) return say('Note')(response, request)
  if (isDone) return say('It is written.')(response, request)
  const asked = { name: 'bash', arguments: JSON.stringify(COMMAND) }
  const call = { index: 0, id: 'call_1', type: 'function', function: asked }
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
    const { stdout, stderr } = (await runOpencode?.(args, { cwd: folder, env })) ?? {}
    expect(`${stdout}${stderr}`).toContain('It is written.')
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('hi')
    expect(upstream.requests.length).toBeGreaterThanOrEqual(2)
    const rows = await closedBooks(gateway, key.id)
    const row = { endpoint: 'chat.completions', contract: 'chat', outcome: 'completed', stream: true, cost: 20_000n }
    expect(rows).toMatchObject(upstream.requests.map(() => row))
  },
  120_000,
)
