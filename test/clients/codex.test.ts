import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { blocksOf } from '../documents/support/markdown.ts'
import { answering, call, openResponses, saying, thought } from '../providers/responses/responses-upstream.ts'
import { closedBooks } from '../robust/support/exchange.ts'
import { inTurn } from '../sdk/support/in-turn.ts'
import type { TestGateway } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, DONE, say, sse, USAGE, usageChunk } from '../support/upstream.ts'
import { openClient } from './support/client.ts'

const runCodex = await openClient('@openai/codex', '0.166.0', 'codex')
const describeWithCodex = runCodex ? describe : describe.skip

/** The configuration that docs/clients.md gives to paste. */
const CONFIG = blocksOf('docs/clients.md', 'toml')[0] ?? ''

/** Codex at work in an empty folder, as a person starts it. */
async function work(gateway: TestGateway, config = CONFIG) {
  const { key, secret } = await gateway.issue()
  const home = emptyFolder()
  const folder = emptyFolder()
  writeFileSync(
    join(home, 'config.toml'),
    config
      .replace(/^model = .*/m, 'model = "test-model"')
      .replace(/base_url = .*/, `base_url = "${gateway.baseUrl}/v1"`),
  )
  const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'Write hi into out.txt.']
  const env = { ...process.env, CODEX_HOME: home, WAYBILL_API_KEY: secret }
  const { stdout = '', stderr = '' } = (await runCodex?.(args, { cwd: folder, env })) ?? {}
  return { stdout, stderr, folder, rows: await closedBooks(gateway, key.id) }
}

const lastOf = (list: unknown) => (Array.isArray(list) ? list.slice(-3) : list)

const COMMAND = { name: 'exec_command', arguments: JSON.stringify({ cmd: 'printf hi > out.txt' }) }
const ROW = { endpoint: 'responses', contract: 'responses', outcome: 'completed', stream: true, cost: 20_000n }

describeWithCodex('Codex', () => {
  test('Codex edits a file in a tool loop over an upstream of chat completions, and its books are right', async () => {
    const { upstream, gateway } = await openBoth()
    upstream.reply = inTurn(
      sse([
        chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: COMMAND }] }),
        chunk({}, 'tool_calls'),
        usageChunk(USAGE),
        DONE,
      ]),
      say('It is written.'),
    )
    const { stdout, folder, rows } = await work(gateway)
    expect(stdout).toContain('It is written.')
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('hi')
    expect(upstream.requests).toHaveLength(2)
    expect(lastOf(upstream.requests[1]?.body.messages)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: COMMAND }] },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('exited with code 0') },
    ])
    expect(rows).toMatchObject([ROW, ROW])
  })

  test('Codex carries the thoughts of an upstream of Responses from turn to turn', async () => {
    const { upstream, gateway } = await openResponses()
    upstream.reply = inTurn(
      answering([thought('rs_1', 'sealed', 'I write it.'), call('call_1', COMMAND.name, COMMAND.arguments)]),
      saying('It is written.'),
    )
    const { stdout, folder, rows } = await work(gateway)
    expect(stdout).toContain('It is written.')
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('hi')
    expect(lastOf(upstream.requests[1]?.body.input)).toMatchObject([
      { type: 'reasoning', encrypted_content: 'sealed' },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1' },
    ])
    expect(rows).toMatchObject([ROW, ROW])
  })

  test('Codex with its own web search is told which line of its configuration to add', async () => {
    const { gateway } = await openBoth()
    const { stdout, stderr } = await work(gateway, CONFIG.replace(/^web_search = .*\n/m, ''))
    expect(stdout + stderr).toContain('web_search = ')
  })
})
