import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ending, start, stream, textBlock, toolBlock } from '../providers/anthropic/anthropic-fixtures.ts'
import { catalogFor } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, DONE, type Reply, sse, type Upstream, USAGE, usageChunk } from '../support/upstream.ts'
import { closedBooks, installClient, runClient } from './support/install-client.ts'

const VERSION = '2.1.197'
const client = await installClient('@anthropic-ai/claude-code', VERSION, 'claude')
if ('missing' in client) console.warn(`Not tested with Claude Code: ${client.missing}.`)
const withClaudeCode = 'file' in client ? test : test.skip

const folder = mkdtempSync(join(tmpdir(), 'waybill-claude-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Turn = { readonly text: string } | { readonly tool: string; readonly input: object }

/** How an upstream of each kind says a turn. */
const DIALECTS: Readonly<Record<string, { readonly entry: object; say(turn: Turn): Reply }>> = {
  anthropic: {
    entry: { type: 'anthropic' },
    say: (turn) =>
      'tool' in turn
        ? stream(start(), ...toolBlock(0, 'toolu_1', turn.tool, JSON.stringify(turn.input)), ...ending('tool_use'))
        : stream(start(), ...textBlock(0, turn.text), ...ending('end_turn')),
  },
  openai: {
    entry: { type: 'openai' },
    say: (turn) =>
      'tool' in turn
        ? sse([
            chunk({
              role: 'assistant',
              tool_calls: [
                { index: 0, id: 'call_1', function: { name: turn.tool, arguments: JSON.stringify(turn.input) } },
              ],
            }),
            chunk({}, 'tool_calls'),
            usageChunk(USAGE),
            DONE,
          ])
        : sse([chunk({ role: 'assistant', content: turn.text }), chunk({}, 'stop'), usageChunk(USAGE), DONE]),
  },
}

/** Writes a note and then says so; what is asked beside that, such as a title, is answered in one word. */
function scripted(file: string, say: (turn: Turn) => Reply): Reply {
  return (response, request) => {
    const asked = JSON.stringify(request.body.messages)
    const hasTools = Array.isArray(request.body.tools) && request.body.tools.length > 0
    const turn: Turn = !hasTools
      ? { text: 'Note' }
      : /tool_result|"role":"tool"/.test(asked)
        ? { text: 'The note is written.' }
        : { tool: 'Write', input: { file_path: file, content: 'Hello from the model.\n' } }
    return say(turn)(response, request)
  }
}

let upstream: Upstream
beforeAll(async () => {
  upstream = await openUpstream()
})

async function runClaude(baseUrl: string, secret: string) {
  if (!('file' in client)) throw new Error(client.missing)
  const args = ['-p', 'Write the note.', '--model', 'test-model', '--dangerously-skip-permissions']
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    IS_SANDBOX: '1',
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_AUTH_TOKEN: secret,
    ANTHROPIC_SMALL_FAST_MODEL: 'test-model',
    ANTHROPIC_DEFAULT_HAIKU_MODEL: 'test-model',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
  }
  return runClient(client.file, args, { cwd: folder, env })
}

withClaudeCode.each(Object.entries(DIALECTS))(
  'Claude Code runs a tool loop to its end over an upstream of the dialect %s, and every call is in the books',
  async (dialect, { entry, say }) => {
    const note = join(folder, `${dialect}.txt`)
    upstream.reply = scripted(note, say)
    upstream.requests.length = 0
    const gateway = await openFor(catalogFor(upstream.url, { maxOutputTokens: 64_000 }, entry))
    const { key, secret } = await gateway.issue({ credits: '1000' })
    const { code, stdout, stderr } = await runClaude(gateway.baseUrl, secret)
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: 'The note is written.\n' })
    expect(readFileSync(note, 'utf8')).toBe('Hello from the model.\n')
    expect(upstream.requests.length).toBeGreaterThanOrEqual(2)
    const rows = await closedBooks(gateway, key)
    expect(rows.filter(({ outcome }) => outcome !== 'completed')).toEqual([])
    expect(new Set(rows.map(({ contract }) => contract))).toEqual(new Set(['messages']))
  },
  90_000,
)
