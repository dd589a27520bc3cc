import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { coveragePage } from '../../cli/schemas/coverage-page.ts'
import { COVERAGE, ENDINGS, EVENTS, type Outcome } from '../../cli/schemas/coverage-table.ts'
import { FREE_BETAS, LEFT_OUT_BETAS, withoutDate } from '../../layers/gateway/contracts/messages/betas.ts'
import { MESSAGES_FIELDS } from '../../layers/gateway/contracts/messages/messages-fields.ts'
import { RESPONSES_FIELDS } from '../../layers/gateway/contracts/responses/responses-fields.ts'
import { CHAT_FIELDS } from '../../layers/gateway/wire/chat/chat-fields.ts'
import { NATIVE_BLOCKS, NATIVE_ITEMS } from '../../layers/gateway/wire/chat/native-items.ts'
import { finishReasonOf } from '../../layers/gateway/wire/chat/stop-reasons.ts'
import { answering, frames, openResponses, USAGE } from '../providers/responses/responses-upstream.ts'
import { openDialects } from '../providers/support/every-dialect.ts'
import { sse } from '../support/upstream.ts'
import { betaNames, chatType, messagesType, type Probe, probesOf, responsesType } from './support/probe-coverage.ts'
import { kindsOf } from './support/samples.ts'
import { unknownNames, wordsOf } from './support/unknown-names.ts'

// The installed SDKs' own type definitions, compared with what the gateway reads and does. A name that an update of an
// SDK brings has no row in the table, and fails here.

const rows = ({ shapes }: typeof MESSAGES_FIELDS) => Object.fromEntries(shapes)
const wordsIn = (type: Parameters<typeof kindsOf>[0], by?: string) => new Set(kindsOf(type, by).map(([kind]) => kind))

test.each([
  ['chat completions', chatType('ChatCompletionCreateParamsNonStreaming'), CHAT_FIELDS],
  ['Responses', responsesType('ResponseCreateParamsNonStreaming'), rows(RESPONSES_FIELDS)],
  ['Messages', messagesType('MessageCreateParamsNonStreaming'), rows(MESSAGES_FIELDS)],
])('the tables of %s know every name of the definitions, at every depth', (_, type, table) => {
  // Output of audio is refused by its value.
  expect(unknownNames(type, table).filter((name) => name !== '.modalities[] = audio')).toEqual([])
})

const CALLS = ['webSearch', 'webFetch', 'fileSearch', 'codeExecution', 'imageGeneration', 'mcpCall']
const calls = Object.fromEntries(CALLS.map((kind) => [kind, '0.01']))
const price = { input: '1', output: '2', cacheWrite: '1.25', cacheWrite1h: '2', ...calls }
const { ask } = await openDialects({ model: { price, contextLength: 1_000_000 } })
const PROVIDERS = ['chat', 'responses', 'anthropic', 'bedrock'] as const
type Format = keyof typeof COVERAGE

async function outcomeOf(format: Format, provider: (typeof PROVIDERS)[number], probe: Probe): Promise<Outcome> {
  const { value, request, base } = probe
  const { status, sent, headers } = await ask(format, provider, request)
  if (status !== 200) return 'r'
  const plain = await ask(format, provider, base)
  if (JSON.stringify(sent) !== JSON.stringify(plain.sent)) {
    return JSON.stringify(sent).includes(JSON.stringify(value)) ? 'p' : 't'
  }
  return headers.has('x-svc-dropped-fields') ? 'o' : 'n'
}

async function outcomesOf(format: Format, probe: Probe): Promise<string> {
  let outcomes = ''
  for (const provider of PROVIDERS) outcomes += await outcomeOf(format, provider, probe)
  return outcomes
}

describe.each(Object.keys(COVERAGE) as Format[])('%s', (format) => {
  const table: Readonly<Record<string, Readonly<Record<string, string>>>> = COVERAGE[format]

  test('every name of the definitions has a row, and meets with what its row says', async () => {
    const found: Record<string, Record<string, string>> = {}
    for (const probe of probesOf(format, false)) {
      found[probe.group] = { ...found[probe.group], [probe.name]: await outcomesOf(format, probe) }
    }
    expect(found).toEqual(table)
  }, 60_000)

  test('a value with every optional field is refused where its row says so, and nowhere else', async () => {
    for (const probe of probesOf(format, true)) {
      const isRefused = (outcomes = '') => Array.from(outcomes, (outcome) => outcome === 'r')
      const { group, name } = probe
      const full = await outcomesOf(format, probe)
      expect([group, name, isRefused(full)]).toEqual([group, name, isRefused(table[group]?.[name])])
    }
  }, 60_000)
})

const EVENT_NAMES = {
  responses: wordsIn(responsesType('ResponseStreamEvent')),
  messages: new Set([
    ...wordsIn(messagesType('BetaRawMessageStreamEvent')),
    ...wordsIn(messagesType('BetaRawContentBlockDelta')),
  ]),
}

test.each(Object.entries(EVENT_NAMES))('every stream event of %s has a row', (format, names) => {
  const listed = Object.values(EVENTS[format as keyof typeof EVENTS]).flat()
  expect([...listed].toSorted()).toEqual([...names].toSorted())
})

test('events of items that only Responses has reach a caller of Responses, and those of refused requests do not', async () => {
  const { passed, 'not sent': dropped } = EVENTS.responses
  const { upstream, gateway } = await openResponses()
  const item = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a' } }
  const at = { output_index: 0, item_id: 'ws_1' }
  upstream.reply = sse(
    frames(
      { type: 'response.output_item.added', output_index: 0, item },
      ...passed.map((type) => ({ type, ...at, delta: 'a' })),
      { type: 'response.output_item.done', output_index: 0, item },
      ...dropped.map((type) => ({ type, delta: 'a', output_index: 9 })),
      { type: 'response.completed', response: { status: 'completed', output: [item], usage: USAGE } },
    ),
  )
  const { secret } = await gateway.issue()
  const body = { model: 'test-model', input: 'Hello', stream: true }
  const text = await (await gateway.post(secret, body, {}, '/v1/responses')).text()
  const types = Array.from(text.matchAll(/^event: (.*)$/gm), ([, type]) => type)
  expect(types.slice(2)).toEqual([
    'response.output_item.added',
    ...passed,
    'response.output_item.done',
    'response.completed',
  ])
})

test('every item and block of an answer is written, or carried to callers of its API format', () => {
  const written = ['message', 'reasoning', 'function_call', 'custom_tool_call']
  const items = [...wordsIn(responsesType('ResponseOutputItem'))].filter((type) => !NATIVE_ITEMS.has(type))
  expect(items.toSorted()).toEqual(written.toSorted())
  const blocks = [...wordsIn(messagesType('BetaContentBlock'))].filter((type) => !NATIVE_BLOCKS.has(type))
  expect(blocks.toSorted()).toEqual(['redacted_thinking', 'text', 'thinking', 'tool_use'])
})

test('every end of an answer has a row, and is read as that says', async () => {
  expect([...wordsOf(messagesType('BetaStopReason'))].toSorted()).toEqual(Object.keys(ENDINGS.messages).toSorted())
  for (const [reason, finishReason] of Object.entries({ ...ENDINGS.messages, ...ENDINGS.chat })) {
    expect([reason, finishReasonOf(reason)]).toEqual([reason, { finishReason }])
  }
  const { upstream, gateway } = await openResponses()
  for (const [reason, finishReason] of Object.entries(ENDINGS.responses)) {
    const message = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
    upstream.reply = answering([message], { status: 'incomplete', incomplete_details: { reason } })
    const { text } = await gateway.ask()
    expect([reason, JSON.parse(text).choices[0].finish_reason]).toEqual([reason, finishReason])
  }
})

test('every value of anthropic-beta is forwarded or left out', () => {
  const names = wordsOf(betaNames()).map(withoutDate)
  expect(names.filter((name) => !FREE_BETAS.has(name) && !LEFT_OUT_BETAS.has(name))).toEqual([])
  expect([...FREE_BETAS].filter((name) => LEFT_OUT_BETAS.has(name))).toEqual([])
})

test('docs/coverage.md is the table', () => {
  expect(readFileSync('docs/coverage.md', 'utf8')).toBe(coveragePage())
})
