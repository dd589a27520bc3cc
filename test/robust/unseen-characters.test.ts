import { beforeAll, describe, expect, test } from '@jest/globals'
import { parseJson, readJson } from '../../console/read-json.ts'
import { AdminError } from '../../layers/admin/api/admin-error.ts'
import { GatewayError } from '../../layers/gateway/domain/basics/gateway-error.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { jsonLog, type Log } from '../../layers/gateway/platform/log/log.ts'
import { bedrockFailure } from '../../layers/gateway/providers/bedrock/bedrock-failure.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { confirmer } from '../../layers/terminal/confirm.ts'
import { humanLog } from '../../local/human-log.ts'
import { adminOf, once } from '../admin-api/support/admin.ts'
import { completedRow } from '../support/completed-row.ts'
import { HELLO } from '../support/gateway.ts'
import { openBoth, openStage } from '../support/stack.ts'
import { HARMFUL, UNSEEN } from '../support/unseen.ts'
import { status } from '../support/upstream.ts'

const INJECTED = `${UNSEEN}\n{"level":"info","event":"forged"}\nreq_forged 200`

const { gateway, upstream } = await openBoth()
const stage = await openStage(gateway.tables, gateway.baseUrl)
const { secret, key } = await gateway.issue({ name: INJECTED, note: INJECTED })
const keyId = key.id

describe('an error', () => {
  const make = {
    UpstreamFailure: () => new UpstreamFailure('rejected', INJECTED, { code: INJECTED, param: INJECTED }),
    GatewayError: () => new GatewayError('invalid_request', INJECTED, { param: INJECTED }),
    'an error of Bedrock': () =>
      bedrockFailure(Object.assign(new Error(INJECTED), { name: 'ValidationException', $metadata: {} }), 'none'),
  }
  test.each(Object.entries(make))('%s has one line without anything unseen, whoever makes it', (_, of) => {
    const { message, ...fields } = of()
    expect(message.split('\n')).toHaveLength(1)
    expect(JSON.stringify({ message, ...fields })).not.toMatch(/\\n|\\u00|\\ud/)
    expect(JSON.stringify({ message, ...fields })).not.toMatch(HARMFUL)
  })

  test('the admin API quotes nothing unseen', () => {
    const { envelope } = new AdminError('invalid_request', INJECTED, { param: INJECTED })
    expect(envelope.error.message + envelope.error.param).not.toMatch(HARMFUL)
  })

  test('an upstream’s words reach the caller plain, and no unseen character parts a key in two', async () => {
    const message = `${INJECTED} sk\u200b-live\u2060-1234567890 is wrong`
    upstream.reply = status(400, { error: { message, code: 'bad', param: INJECTED } })
    const answer = await gateway.post(secret, HELLO)
    const body = await answer.text()
    expect([answer.status, body]).toEqual([400, expect.stringContaining('[key] is wrong')])
    expect(JSON.stringify(JSON.parse(body))).not.toMatch(HARMFUL)
    expect(body).not.toMatch(/\\n|\\u00|1234567890/)
  })

  test.each([
    ['a model', { ...HELLO, model: `${INJECTED}${'x'.repeat(5_000)}` }],
    ['a field', { ...HELLO, [`${INJECTED}${'x'.repeat(5_000)}`]: 1 }],
    ['a role', { ...HELLO, messages: [{ role: INJECTED, content: 'x' }] }],
    ['a type', { ...HELLO, messages: [{ role: 'user', content: [{ type: INJECTED, text: 'x' }] }] }],
  ])('%s that a caller named is not quoted with anything unseen, nor at length', async (_, body) => {
    upstream.reply = status(400, { error: { message: 'no' } })
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses']) {
      const answer = await gateway.post(secret, { ...body, max_tokens: 5, input: 'x' }, {}, path)
      const text = await answer.text()
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(JSON.stringify(JSON.parse(text))).not.toMatch(HARMFUL)
      expect(text).not.toMatch(/\\u00|\\n/)
      expect(text.length).toBeLessThan(3_000)
    }
  })
})

describe('the log', () => {
  const row = { ...completedRow({ requestId: 'req_1', keyId: 'key_1', startedAtMs: 0, cost: 1n, hold: 1n }) }
  const odd: UsageRow = { ...row, errorCode: INJECTED, model: INJECTED, provider: INJECTED }
  const error = Object.assign(new Error(INJECTED, { cause: new Error(INJECTED) }), { stack: INJECTED })

  function sayAllTo(log: Log): void {
    log.request(odd)
    log.problem(INJECTED, error, INJECTED)
    log.unsettled(error, INJECTED)
    log.upstreamFailed(INJECTED, new UpstreamFailure('status', INJECTED))
    log.unpaid(INJECTED, 1n)
  }

  test('each line is one line of JSON with the same data, whatever was said', () => {
    const lines: string[] = []
    sayAllTo(jsonLog((line) => lines.push(line)))
    expect(lines).toHaveLength(5)
    for (const line of lines) expect(line).not.toMatch(/\n|\t/)
    expect(lines.join()).not.toMatch(HARMFUL)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ errorCode: INJECTED, model: INJECTED })
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ what: INJECTED, error: { message: INJECTED, stack: INJECTED } })
  })

  test('for people, no text begins a line or brings a colour of its own, and our colours stay', () => {
    const lines: string[] = []
    const painted = (text: string) => `\u001b[31m${text}\u001b[39m`
    const paint = { strong: painted, dim: painted, good: painted, warn: painted, bad: painted }
    sayAllTo(humanLog((line) => lines.push(line), paint))
    const printed = lines.join('\n').split('\n')
    expect(printed.filter((line) => !line.startsWith('    '))).toHaveLength(5)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours.
    expect(printed.join('').replace(/^\u001b\[31m|\u001b\[3[19]m/g, '')).not.toMatch(HARMFUL)
    expect(lines.every((line) => line.startsWith('\u001b[31m'))).toBe(true)
  })
})

describe('the command line', () => {
  const startedAtMs = Date.now() - 60_000
  beforeAll(async () => {
    const row = completedRow({ requestId: 'req_01K9ZZZZZZZZZZZZZZZZZZZZZZ', keyId, startedAtMs, cost: 0n, hold: 0n })
    await putUsageRow(gateway.tables)({ ...row, outcome: 'upstream_error', errorCode: INJECTED, provider: INJECTED })
  })
  const from = new Date(startedAtMs).toISOString()

  test.each([
    ['keys', 'list'],
    ['keys', 'show'],
    ['usage', 'list'],
    ['usage', 'summary', '--by', 'key'],
    ['usage', 'export', '--from', from, '--format', 'csv'],
    ['usage', 'export', '--from', from, '--format', 'jsonl'],
    ['routes', 'list'],
    ['events', 'list'],
    ['audit'],
    ['keys', 'show', INJECTED],
    ['keys', 'update', `--name=${INJECTED}`],
    [`nothing${INJECTED}`],
  ])('waybill %s %s prints nothing unseen, and no line that a text has made', async (...given) => {
    const args = given.length === 2 && given[1] === 'show' ? [...given, keyId] : given
    const { stdout, stderr } = await stage.waybill([...args, '--stage', 'dev'])
    expect(stdout + stderr).not.toBe('')
    expect(stdout + stderr).not.toMatch(HARMFUL_BUT_CR)
    if (!args.includes('csv')) expect(stdout).not.toMatch(/^req_forged|^\{"level"/m)
  })

  test.each([
    ['keys', 'list'],
    ['usage', 'list'],
  ])('waybill %s %s --json prints escapes, and the same data', async (...args) => {
    const { stdout } = await stage.waybill([...args, '--stage', 'dev', '--json'])
    expect(stdout).not.toMatch(HARMFUL)
    expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(INJECTED).slice(1, -1))
  })

  test('a question before a change is plain', async () => {
    let asked = ''
    const { PassThrough } = await import('node:stream')
    const [input, output] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough()]
    output.on('data', (piece) => {
      asked += piece
    })
    input.end('n\n')
    const confirm = confirmer({ stage: 'prod', isProtected: true, yes: false }, { input, output })
    await expect(confirm(() => INJECTED)).rejects.toThrow('Nothing was changed')
    expect(asked).toContain('Go on?')
    expect(asked).not.toMatch(HARMFUL)
  })
})

/** RFC 4180 ends lines with both. */
const HARMFUL_BUT_CR = new RegExp(HARMFUL.source.replace('\\u000b-\\u001f', '\\u000b\\u000c\\u000e-\\u001f'), 'u')

/** Its types are of a browser. */
const PLAYGROUND: string = '../../console/pages/playground/read-answer.ts'

describe('the console', () => {
  const inside = { [INJECTED]: [INJECTED, { name: INJECTED }] }

  test('an answer is read with plain texts and names, as a whole and line by line', async () => {
    expect(JSON.stringify(await readJson(Response.json(inside)))).not.toMatch(HARMFUL)
    expect(JSON.stringify(parseJson(JSON.stringify(inside)))).not.toMatch(HARMFUL)
  })

  test('the pieces of a model’s answer in the playground are plain', async () => {
    const chunk = JSON.stringify({ choices: [{ delta: { content: INJECTED } }] })
    const { readAnswer } = await import(PLAYGROUND)
    const pieces = await Array.fromAsync<{ text: string }>(
      readAnswer(new Response(`data: ${chunk}\n\ndata: [DONE]\n\n`)),
    )
    expect(pieces).toHaveLength(1)
    expect(pieces[0]?.text).toContain('forged')
    expect(pieces[0]?.text).not.toMatch(HARMFUL)
  })
})

describe('what is stored', () => {
  test.each(['name', 'note', 'external_id'])(
    'a key’s %s with anything unseen is a 400 that says what is wrong',
    async (field) => {
      const admin = adminOf(gateway.tables)
      for (const text of ['a\u001b[2Jb', 'a\u009bb', 'a\u202eb', 'a\nb', 'a\u2028b', 'a\u200bb', 'a\u{e0041}b']) {
        const body = { name: 'x', [field]: text }
        const { status: code, body: told } = await admin.call('POST /keys', { body, headers: once() })
        expect([field, text, code, told.error.param]).toEqual([field, text, 400, field])
        expect(told.error.message).not.toMatch(HARMFUL)
      }
    },
  )
})
