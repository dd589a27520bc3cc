import { describe, expect, test } from '@jest/globals'
import { checkRow } from '../../layers/admin/audit/add-rows.ts'
import { explainCharge } from '../../layers/admin/explain/explain-charge.ts'
import { lossOf } from '../../layers/gateway/domain/admission/counters.ts'
import { DayCounter } from '../../layers/gateway/domain/rows/day-total.ts'
import { focusLines } from '../../layers/gateway/domain/rows/focus-line.ts'
import { spanOf } from '../../layers/gateway/domain/rows/span.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { block, ending, message, start, stream, textBlock } from '../providers/anthropic/anthropic-fixtures.ts'
import { answering, CREATED, eventsOf, frames, message as item } from '../providers/responses/responses-upstream.ts'
import { openDialects } from '../providers/support/every-dialect.ts'
import { type Reply, say, sse, USAGE } from '../support/upstream.ts'

// Nanocredits: a prompt token costs 1,000, a completion token 2,000.
const CALL_PRICES = { webSearch: '0.01', webFetch: '0', codeExecution: '0.03', imageGeneration: '0.2' }
const SEARCH = 10_000_000n
const CONTEXT = 100_000n * 1_000n
const CAP = 100n * 2_000n
const TOKENS = 10n * 1_000n + 5n * 2_000n

const priced = await openDialects({
  model: {
    price: { input: '1', output: '2', fileSearch: '0.0025', mcpCall: '0', ...CALL_PRICES },
    maxToolCalls: 3,
    vectorStores: ['vs_everybody'],
  },
})
const { gateway, upstreams } = priced

const WEB = { type: 'web_search' }
const CLAUDE = { type: 'web_search_20260318', name: 'web_search' }
const FUNCTION = { type: 'function', name: 'f', parameters: { type: 'object' } }

const searches = (count: number, action: object = { type: 'search', query: 'a' }) =>
  Array.from({ length: count }, (_, i) => ({ type: 'web_search_call', id: `ws_${i}`, status: 'completed', action }))

const responded = (items: Parameters<typeof answering>[0]): Reply => answering([...items, item('Hi')])

const block_ = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'a' } }
const RESULT = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
const counting = (web_search_requests: number, more = {}) => ({
  input_tokens: 10,
  output_tokens: 5,
  server_tool_use: { web_search_requests, web_fetch_requests: 0 },
  ...more,
})
const told = (usage: object): Reply =>
  message([block_, RESULT, { type: 'text', text: 'Hi' }] as never, 'end_turn', usage)

async function ask(dialect: 'responses' | 'anthropic' | 'chat', reply: Reply, fields: object, contract?: string) {
  const own = { responses: 'responses', anthropic: 'messages', chat: 'chat' } as const
  upstreams[dialect].reply = reply as never
  const asked = await priced.ask((contract as 'chat') ?? own[dialect], dialect, fields)
  const row = await gateway.readRow(asked.requestId)
  return { ...asked, row, dropped: asked.headers.get('x-svc-dropped-fields') }
}

describe('a tool with a price', () => {
  test('is offered within the catalog’s bound, held for, counted and charged exactly, in Responses', async () => {
    const tools = [WEB, FUNCTION]
    const { status, sent, row, answer, dropped } = await ask('responses', responded(searches(2)), { tools })
    expect([status, sent?.tools, sent?.max_tool_calls, dropped]).toEqual([200, tools, 3, null])
    expect(row).toMatchObject({ webSearches: 2, cost: TOKENS + 2n * SEARCH, usageSource: 'upstream' })
    // Three calls at the dearest offered kind, and all of the context.
    expect(row.hold).toBe(CONTEXT + CAP + 3n * SEARCH)
    expect(JSON.parse(answer).output).toMatchObject([...searches(2), { type: 'message' }])
  })

  test('is streamed to a caller of the same format, with the same charge', async () => {
    const { answer, row } = await ask('responses', responded(searches(2)), { tools: [WEB], stream: true })
    expect(answer.match(/"type":"web_search_call"/g)?.length).toBeGreaterThanOrEqual(4)
    expect(row).toMatchObject({ webSearches: 2, cost: TOKENS + 2n * SEARCH })
  })

  test.each([true, false])(
    'is counted by Anthropic, and each tool has its own bound (stream: %s)',
    async (streamed) => {
      const fetches = { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 1 }
      const reply = streamed
        ? stream(
            start({ input_tokens: 10 }),
            ...block(0, block_),
            ...block(1, RESULT),
            ...textBlock(2, 'Hi'),
            ...ending('end_turn', counting(2)),
          )
        : told(counting(2))
      const asked = await ask('anthropic', reply, { tools: [CLAUDE, fetches], stream: streamed })
      expect(asked.sent?.tools).toEqual([{ ...CLAUDE, max_uses: 3 }, fetches])
      expect(asked.row).toMatchObject({ webSearches: 2, cost: TOKENS + 2n * SEARCH, hold: CONTEXT + CAP + 3n * SEARCH })
      expect(asked.answer).toContain('"server_tool_use"')
      expect(asked.answer).toContain('"web_search_tool_result"')
      expect(asked.answer).toContain('"server_tool_use":{"web_search_requests":2}')
    },
  )

  test('has the caller’s own lower bound, and a higher one is lowered and reported', async () => {
    const lower = await ask('responses', responded([]), { tools: [WEB], max_tool_calls: 2 })
    expect([lower.sent?.max_tool_calls, lower.dropped, lower.row.hold]).toEqual([2, null, CONTEXT + CAP + 2n * SEARCH])
    const higher = await ask('responses', responded([]), { tools: [WEB], max_tool_calls: 50 })
    expect([higher.sent?.max_tool_calls, higher.dropped]).toEqual([3, 'max_tool_calls'])
    const claude = await ask('anthropic', told(counting(0)), { tools: [{ ...CLAUDE, max_uses: 50 }] })
    expect(claude.sent?.tools).toEqual([{ ...CLAUDE, max_uses: 3 }])
    expect(claude.dropped).toBe('tools.web_search_20260318.max_uses')
  })

  test('may be chosen, and the results that the caller wants are asked for', async () => {
    const include = ['web_search_call.action.sources']
    const tool_choice = { type: 'web_search' }
    const { sent } = await ask('responses', responded([]), { tools: [WEB], tool_choice, include })
    expect([sent?.tool_choice, sent?.include]).toEqual([tool_choice, [...include, 'reasoning.encrypted_content']])
  })

  test('pages that a model opens are no searches, and runs in one container are one container', async () => {
    const runs = ['a', 'a', 'b'].map((container_id, i) => ({
      type: 'code_interpreter_call',
      id: `ci_${i}`,
      container_id,
    }))
    const opened = searches(4, { type: 'open_page', url: 'https://example.com' })
    const tools = [WEB, { type: 'code_interpreter', container: { type: 'auto' } }]
    const { row, sent } = await ask('responses', responded([...opened, ...runs]), { tools })
    expect(sent?.tools).toEqual(tools)
    expect(row).toMatchObject({ codeExecutions: 2, cost: TOKENS + 60_000_000n })
    expect([row.webSearches, row.hold]).toEqual([undefined, CONTEXT + CAP + 3n * 30_000_000n])
  })

  test('searches the vector stores of the catalog, and no others', async () => {
    const search = (...vector_store_ids: string[]) => ({ tools: [{ type: 'file_search', vector_store_ids }] })
    const everybody = await ask('responses', responded([]), search('vs_everybody'))
    expect([everybody.sent?.tools, everybody.dropped]).toEqual([search('vs_everybody').tools, null])
    const others = await ask('responses', responded([]), search('vs_everybody', 'vs_of_another'))
    expect([others.sent?.tools, others.dropped]).toEqual([undefined, 'tools.file_search'])
  })

  test('has its line wherever a charge is told', async () => {
    const { row } = await ask('responses', responded(searches(2)), { tools: [WEB] })
    expect(checkRow(row)).toEqual([])
    expect(explainCharge(row).flat().join(' ')).toMatch(/web searches +2 web searches +× 0\.01 each +=/)
    expect(JSON.stringify(spanOf(row))).toContain(
      '{"key":"waybill.usage.web_search_requests","value":{"intValue":"2"}}',
    )
    const day = new DayCounter(row.keyId, '2026-11-19')
    day.add(row)
    const lines = focusLines(day.total() as never)
    expect(lines).toContainEqual(
      expect.objectContaining({
        SkuMeter: 'web searches',
        ConsumedQuantity: '2',
        ConsumedUnit: 'Calls',
        BilledCost: '0.02',
      }),
    )
  })
})

describe('what cannot be counted', () => {
  const isShort = ({ cost, loss = 0n }: UsageRow, bill: bigint) => cost + loss < (bill * 95n) / 100n

  test.each([
    ['responses', responded(searches(100)), { tools: [WEB] }],
    ['anthropic', told(counting(100)), { tools: [CLAUDE] }],
  ] as const)(
    'a lying provider of %s is charged up to the hold, and the rest is a loss of the key',
    async (dialect, reply, fields) => {
      const { row } = await ask(dialect, reply, fields)
      expect(isShort(row, TOKENS + 100n * SEARCH)).toBe(false)
      expect(lossOf(await gateway.readKey(row.keyId), Date.now())).toBeGreaterThanOrEqual(row.loss ?? 0n)
    },
  )

  test.each([
    ['responses', { tools: [WEB] }, sse([...frames(CREATED, ...searches(1).flatMap(eventsOf))])],
    [
      'anthropic',
      { tools: [CLAUDE] },
      stream(start({ input_tokens: 10 }), ...block(0, block_), ...block(1, RESULT), ...textBlock(2, 'Hi')),
    ],
  ] as const)(
    'an answer of %s that breaks off after a call is charged all calls and the context',
    async (dialect, fields, reply) => {
      const { row } = await ask(dialect, reply, { ...fields, stream: true })
      expect(row).toMatchObject({
        usageSource: 'estimate',
        webSearches: 3,
        promptTokens: 100_000,
      })
      expect(row.cost).toBeGreaterThanOrEqual(CONTEXT + 3n * SEARCH)
    },
  )

  test('an answer that breaks off before any call is charged none', async () => {
    const { row } = await ask('responses', sse(frames(CREATED, ...eventsOf(item('Hello'), 0))), {
      tools: [WEB],
      stream: true,
    })
    expect([row.webSearches, row.promptTokens < 100]).toEqual([undefined, true])
  })

  test('searches of chat count as the bound, unless the provider counts them', async () => {
    const web_search_options = { search_context_size: 'low' }
    const unseen = await ask('chat', say('Hi'), { web_search_options })
    expect([unseen.sent?.web_search_options, unseen.row.webSearches]).toEqual([web_search_options, 3])
    const usage = { ...USAGE, server_tool_use: { web_search_requests: 1 } }
    const { row } = await ask('chat', say('Hi', usage), { web_search_options })
    expect(row).toMatchObject({ webSearches: 1, cost: TOKENS + SEARCH })
  })
})

describe('a tool that a route cannot carry', () => {
  test.each([
    ['chat', { tools: [WEB, FUNCTION] }, 'tools.web_search'],
    ['anthropic', { tools: [WEB, FUNCTION] }, 'tools.web_search'],
    ['responses', { tools: [CLAUDE], max_tokens: 100 }, 'tools.web_search_20260318'],
  ] as const)(
    'is left out at %s, and the hold has neither its calls nor the context',
    async (dialect, fields, reported) => {
      const contract = dialect === 'responses' ? 'messages' : 'responses'
      const reply = {
        chat: say('Hi'),
        anthropic: message([{ type: 'text', text: 'Hi' }], 'end_turn'),
        responses: responded([]),
      }[dialect]
      const { status, dropped, row, sent } = await ask(dialect, reply, fields, contract)
      expect([status, dropped, JSON.stringify(sent).includes('web_search')]).toEqual([200, reported, false])
      expect(row.hold < CONTEXT).toBe(true)
    },
  )

  test.each([
    { type: 'web_search' },
    { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] },
    'required',
  ])('is a 400 if the choice forces it: %j', async (tool_choice) => {
    const { status, answer, sent } = await ask('chat', say('Hi'), { tools: [WEB], tool_choice }, 'responses')
    expect([status, JSON.parse(answer).error.param, sent]).toEqual([400, 'tool_choice', undefined])
  })

  test('is no reason to forget the tools beside it among those that are allowed', async () => {
    const tool_choice = {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'mcp' }, { type: 'function', name: 'f' }],
    }
    const tools = [{ type: 'mcp', server_label: 'x', server_url: 'https://x.test', headers: { a: 'b' } }, FUNCTION]
    const { status, sent } = await ask('responses', responded([]), { tools, tool_choice })
    expect([status, sent?.tools]).toEqual([200, [FUNCTION]])
  })
})

test('ten thousand tools, tools in tools and wrong types are refused', async () => {
  for (const tools of [
    Array(10_000).fill(WEB),
    [{ type: 'namespace', name: 'n', tools: [WEB] }],
    [{ type: 'web_serch' }],
  ]) {
    const { status, sent } = await ask('responses', responded([]), { tools })
    expect([status, sent]).toEqual([400, undefined])
  }
})
