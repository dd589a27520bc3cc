import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ending, start, stream, textBlock, toolBlock } from '../providers/anthropic/anthropic-fixtures.ts'
import { closedBooks } from '../robust/support/exchange.ts'
import { catalogFor } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, DONE, type Reply, say as sayInChat, sse, USAGE, usageChunk } from '../support/upstream.ts'
import { openClient } from './support/client.ts'

const runClaude = await openClient('@anthropic-ai/claude-code', '2.1.197', 'claude')
const withClaudeCode = runClaude ? test : test.skip
const upstream = await openUpstream()
const folder = emptyFolder()

type Turn = { readonly text: string } | { readonly tool: string; readonly input: object }

const callInChat = (name: string, input: object) =>
  chunk({ tool_calls: [{ index: 0, id: 'call_1', function: { name, arguments: JSON.stringify(input) } }] })

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
        ? sse([callInChat(turn.tool, turn.input), chunk({}, 'tool_calls'), usageChunk(USAGE), DONE])
        : sayInChat(turn.text),
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

const ARGS = ['-p', 'Write the note.', '--model', 'test-model', '--dangerously-skip-permissions']
const ENV = {
  PATH: process.env.PATH,
  HOME: folder,
  IS_SANDBOX: '1',
  ANTHROPIC_SMALL_FAST_MODEL: 'test-model',
  ANTHROPIC_DEFAULT_HAIKU_MODEL: 'test-model',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
}

withClaudeCode.each(Object.entries(DIALECTS))(
  'Claude Code runs a tool loop to its end over an upstream of the dialect %s, and every call is in the books',
  async (dialect, { entry, say }) => {
    const note = join(folder, `${dialect}.txt`)
    upstream.reply = scripted(note, say)
    upstream.requests.length = 0
    const gateway = await openFor(catalogFor(upstream.url, { maxOutputTokens: 64_000 }, entry))
    const { key, secret } = await gateway.issue({ credits: '1000' })
    const env = { ...ENV, ANTHROPIC_BASE_URL: gateway.baseUrl, ANTHROPIC_AUTH_TOKEN: secret }
    expect(await runClaude?.(ARGS, { cwd: folder, env })).toMatchObject({ code: 0, stdout: 'The note is written.\n' })
    expect(readFileSync(note, 'utf8')).toBe('Hello from the model.\n')
    expect(upstream.requests.length).toBeGreaterThanOrEqual(2)
    const rows = await closedBooks(gateway, key.id)
    expect(rows.filter(({ outcome }) => outcome !== 'completed')).toEqual([])
    expect(new Set(rows.map(({ contract }) => contract))).toEqual(new Set(['messages']))
  },
  90_000,
)
