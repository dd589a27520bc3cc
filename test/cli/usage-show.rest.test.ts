import { expect, test } from '@jest/globals'
import { explanationLines } from '../../cli/commands/usage.ts'
import { explainOpenHold, explainRequest } from '../../layers/admin/explain/explain-request.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { completedRow } from '../support/completed-row.ts'
import { demandOf } from '../support/demand.ts'
import { requestIdAt } from '../support/request-id.ts'
import { openBoth, openStage } from '../support/stack.ts'
import { say, status } from '../support/upstream.ts'

const NOW = Date.now()
const UNTIL = new Date(NOW + 64_000).toISOString()
const REQUEST = requestIdAt(NOW)
const PRICE = { input: '0.15', output: '0.60', cachedInput: '0.075' }
const attemptsOf = (...results: string[]) => results.map((result) => ({ provider: 'up', model: 'm', result, ms: 1 }))

/** It has 10 prompt and 5 completion tokens, which cost 0.0000045. */
const ROW: UsageRow = {
  ...completedRow({ requestId: REQUEST, keyId: 'key_1', startedAtMs: NOW, cost: 4_500n, hold: 1_000_000n }),
  model: 'test-model',
  promptTokens: 10,
  completionTokens: 5,
  price: PRICE,
  attempts: attemptsOf('ok'),
}

/** The explanation of the row as if it had come out differently, while the key holds this for it. */
function explain(changes: Partial<UsageRow> = {}, holds: Key['holds'] = {}, nowMs = NOW): string {
  const key = { id: 'key_1', name: 'acme', holds } as Key
  return explanationLines(explainRequest({ ...ROW, ...changes }, key, nowMs)).join('\n')
}

/** Prices for more than tokens, and counts that they make 0.0218 of. */
const PRICES = { input: '1', output: '2', cachedInput: '0.5', cacheWrite: '1.25', request: '0.005', image: '0.001' }
const COUNTS = {
  promptTokens: 12_000,
  cachedTokens: 2_000,
  cacheWriteTokens: 4_000,
  completionTokens: 900,
  reasoningTokens: 640,
  images: 3,
}
const TIER = { input: '1', output: '2', cachedInput: '1', cacheWrite: '1.25', cacheWrite1h: '2', above: 272_000 }
const HOUR = { promptTokens: 300_000, cacheWriteTokens: 5_000, cacheWrite1hTokens: 2_000, price: TIER, hold: 10n ** 9n }
const NONE = { cost: 0n, usageSource: 'none' } as const
const DIED = { ...NONE, outcome: 'abandoned', httpStatus: 0, attempts: [] } as const
const REFUSED = { ...NONE, outcome: 'refused', hold: 0n } as const
const SAID = [{ provider: 'up', model: 'm', result: 'status 500', ms: 1, said: 'server_error' }]
const ODD = { input: '0.150001', output: '0.6', cachedInput: '0.075' }

test.each<[string, Partial<UsageRow>, ...(readonly RegExp[])]>([
  ['no usage was reported', { usageSource: 'estimate' }, /an estimate with o200k.*reported no usage$/m],
  [
    'the tokenizer could not be reached',
    { usageSource: 'estimate', estimatedBy: 'characters' },
    /a rough estimate by characters, because the tokenizer could not be reached: the upstream reported no usage$/m,
  ],
  [
    'the reported counts were rejected',
    { usageSource: 'estimate', usageRejected: true },
    /o200k.*counts that are none \(negative, not whole, missing, or 0 for an answer with text\), or those of one choice/,
  ],
  [
    'no tokens were counted',
    { promptTokens: 0, completionTokens: 0, cost: 0n },
    /counted by +the upstream \(reported usage\)$/m,
  ],
  [
    'the answer broke off',
    { outcome: 'upstream_error', usageSource: 'estimate' },
    /^ +the provider had accepted .* the answer broke off: charged is an estimate of the prompt and of what came/m,
  ],
  [
    'the answer could not be used',
    { outcome: 'upstream_error', httpStatus: 502 },
    /^ +the provider had accepted the request \(200\), or may have, and .* could not be used: charged is its usage$/m,
  ],
  [
    'the provider did not stop',
    { usageSource: 'estimate', attempts: attemptsOf('runaway') },
    /^counted by +the output cap/m,
  ],
  ['its end has an unknown name', { stopReason: 'malformed_tool_use' }, /^stop reason +malformed_tool_use: /m],
  ['the provider said something', { attempts: SAID }, /^provider said 1\. server_error$/m],
  [
    'max_tokens was lowered',
    { askedMaxTokens: 32_000, loweredMaxTokens: 1000 },
    /^max tokens +lowered to 1000, the most that test-model generates; 32000 were asked for$/m,
  ],
  ['another model answered', { fallbackModel: 'other' }, /^fallback +the model other .* at the price of test-model$/m],
  [
    'it was rounded up',
    { promptTokens: 3, completionTokens: 1, cachedTokens: 1, price: ODD, cost: 976n },
    /^cached {8}1 tokens × 0\.075 per million += 0\.000000075$/m,
    /^charged .* 0\.000000976 +rounded up from 0\.000000975002 to 0\.000000001$/m,
  ],
  [
    'it was capped',
    { hold: 4_000n, cost: 4_000n },
    /^charged +0\.000004 +the upstream counted more than was held for: charged is the hold, .* make 0\.0000045$/m,
  ],
  [
    'its counts are beyond the hold',
    { ...COUNTS, price: PRICES, cost: 10_000_000n, hold: 10_000_000n, usageCapped: true },
    /^charged +0\.01 +the upstream counted more than was held for: charged is the hold, .* make 0\.0218$/m,
  ],
  [
    'it does not follow from its lines',
    { cost: 5_000n },
    /^charged +0\.000005 +which does not follow.*waybill audit --key key_/m,
  ],
  [
    'its price is of a tier, and tokens were written to a cache for an hour',
    HOUR,
    /^tier +above 272,000 prompt tokens$/m,
    /^cache write +3,000 tokens +× 1\.25 per million/m,
    /^cache 1h +2,000 tokens +× 2 per million/m,
    /less 5,000 written to the cache, 2,000 of them for an hour/,
  ],
  ['its cost is known', { upstreamCost: 3_000n }, /^cost us +0\.000003\nmargin +0\.0000015$/m],
  [
    'the provider itself stated its cost',
    { upstreamCost: 3_000n, upstreamCostSource: 'provider' },
    /^cost us +0\.000003, as the provider states it\nmargin/m,
  ],
  [
    'it was below its cost',
    { upstreamCost: 5_000n },
    /^cost us +0\.000005\nmargin +-0\.0000005: it was charged below what it cost us$/m,
  ],
])('a charge is explained when %s', (_, changes, ...words) => {
  expect(explain()).not.toMatch(/rounded|^tier |cost us|margin|^loss/m)
  const shown = explain(changes)
  for (const one of [...words, /^charged {10,}0/m]) expect(shown).toMatch(one)
})

test('a charge is explained by its tokens when no price is stored, or the row is damaged', () => {
  const old = explain({ ...COUNTS, price: undefined, priceVersion: 7, hold: 30_000_000n })
  expect(old).toMatch(/^prompt +12,000 tokens, of them 2,000 cached and 4,000 written to the cache$/m)
  expect(old).toMatch(/^completion +900 tokens, of them 640 reasoning$/m)
  expect(old).toMatch(/^charged +0\.0000045; this row has no price stored \(version 7 of the catalog\)/m)
  expect(explain({ promptTokens: 1.5 })).toMatch(/^charged +0\.0000045; .*damaged/m)
})

test('a charge for cache writes, reasoning, the request and images is explained in columns', () => {
  const shown = explain({ ...COUNTS, price: PRICES, cost: 21_800_000n, hold: 30_000_000n })
  expect(shown.split('\n').slice(9, 17)).toEqual([
    'prompt        6,000 tokens  × 1 per million    = 0.006   12,000 prompt tokens less 2,000 cached and 4,000 written to the cache',
    'cached        2,000 tokens  × 0.5 per million  = 0.001',
    'cache write   4,000 tokens  × 1.25 per million = 0.005',
    'completion      900 tokens  × 2 per million    = 0.0018  of them 640 reasoning',
    'request           1 request × 0.005 each       = 0.005',
    'images            3 images  × 0.001 each       = 0.003',
    'charged                                          0.0218',
    'held          0.03 at admission, 0.0082 given back',
  ])
})

test.each<[string, Partial<UsageRow>, string]>([
  ['a route above the price', { upstreamCost: 9_000n }, 'its route costs more than the price'],
  ['a fallback without a cost', { fallbackModel: 'dear' }, 'its route costs more than the price'],
  [
    'attempts without an answer',
    { attempts: attemptsOf('connect', 'timeout', 'reset', 'ok') },
    'attempts without an answer that may be billed: 2',
  ],
  ['counts above the hold', { usageCapped: true, upstreamCost: 9_000n }, 'its counts came to more than was held'],
  ['an answer beyond its cap', { attempts: attemptsOf('beyond_cap') }, 'the provider went on beyond the output cap'],
  ['a process that died', DIED, 'its process died, and a provider may bill up to its hold'],
])('a loss is explained by %s', (_, changes, why) => {
  const shown = explain({ ...changes, loss: 2_000_000n })
  expect(shown.split('\n')).toContain(`loss          may have cost us 0.002 beyond the charge: ${why}`)
})

test.each<[string, Partial<UsageRow>, ...string[]]>([
  [
    'no provider accepted',
    { ...NONE, outcome: 'upstream_error', errorCode: 'upstream_error', attempts: attemptsOf('status 500') },
    'no provider accepted it, or the provider said that it failed (upstream_error), and that is free',
    'held          0.001 at admission, 0.001 given back',
    'attempts      1. up/m: status 500 after 1 ms',
  ],
  [
    'the gateway refused',
    { ...REFUSED, errorCode: 'model_not_found', attempts: [] },
    'it was refused before it went to a model (model_not_found), and a refusal is free',
    'error         model_not_found',
    'held          nothing',
  ],
  [
    'the upstream refused',
    { ...REFUSED, errorCode: 'bad_thing', attempts: attemptsOf('status 400') },
    'it was refused by the upstream (bad_thing), and a refusal is free',
  ],
  ['is to a free endpoint', { ...NONE, endpoint: 'models' }, 'this endpoint is free'],
  [
    'was answered before',
    { ...NONE, replayOf: 'req_1' },
    'it is the answer of req_1 once more, for the same Idempotency-Key',
  ],
  [
    'died with its process',
    DIED,
    'its process died before it could settle; such a request is free, and its hold came back',
    'status        none: no answer was sent',
    'held          0.001 at admission, 0.001 given back',
  ],
])('a request that %s is explained as free', (_, changes, why, ...others) => {
  const lines = explain(changes).split('\n')
  expect(lines).toEqual(expect.arrayContaining([`charged       0: ${why}`, ...others]))
})

test('an unsettled request with a row is explained as such, before and after its time', () => {
  const holds = { [REQUEST]: { amount: 1_000_000n, untilMs: NOW + 64_000 } } as Key['holds']
  expect(explain({}, holds)).toContain(
    `held          0.001 at admission, and still: not settled yet; 0.0000045 will be taken and the rest given back, at the latest by the sweep after ${UNTIL}`,
  )
  expect(explain({}, holds, NOW + 64_000)).toContain(`its time was over at ${UNTIL}; 0.0000045 will be taken`)
})

test('an unsettled request without a row is explained as running or dead, with its hold and until when', () => {
  const hold = { amount: 12_300n, untilMs: NOW + 64_000 } as Key['holds'][string]
  const shown = (nowMs: number) =>
    explanationLines(explainOpenHold(REQUEST, { id: 'key_1', name: 'acme' } as Key, hold, nowMs)).join('\n')
  expect(shown(NOW)).toContain('no row yet: it is still running, or it has died')
  expect(shown(NOW)).toContain(`held          0.0000123 until ${UNTIL}`)
  expect(shown(NOW + 64_000)).toContain('no row: it has died; the sweep, every 5 minutes, writes its row')
})

test('waybill usage show explains a charge line by line: tokens × price, the hold, who counted and every attempt', async () => {
  const routes = ['first', 'second'].map((model, priority) => ({ provider: 'up', model, priority }))
  const { upstream, gateway } = await openBoth({ model: { price: PRICE, routes } })
  const usage = { prompt_tokens: 1_200, completion_tokens: 340, prompt_tokens_details: { cached_tokens: 200 } }
  upstream.reply = (response, request) =>
    (request.body.model === 'first' ? status(500, 'x') : say('Hello', usage))(response, request)
  const messages = [{ role: 'user', content: 'a'.repeat(2_000) }]
  const { row, key } = await gateway.ask({ messages, max_tokens: 1000, stream: true }, { name: 'acme' })
  const open = requestIdAt(NOW)
  await takeAdmission(gateway.tables)(key, demandOf(key, NOW, { requestId: open, hold: 12_300n }))
  const stage = await openStage(gateway.tables)
  const show = (...args: string[]) => stage.waybill(['usage', 'show', ...args, '--stage', 'dev'])
  const people = await show(row.requestId)
  expect([people.code, people.stdout.split('\n')]).toEqual([
    0,
    [
      `request       ${row.requestId}`,
      `started       ${new Date(row.startedAtMs).toISOString()}`,
      `key           ${key.id} (acme)`,
      'endpoint      chat.completions, streamed',
      'model         test-model → up/second',
      'finish reason stop',
      'status        200',
      'outcome       completed',
      `took          ${row.durationMs} ms, the first token after ${row.ttftMs} ms`,
      '',
      'prompt        1,000 tokens × 0.15 per million  = 0.00015   1,200 prompt tokens less 200 cached',
      'cached          200 tokens × 0.075 per million = 0.000015',
      'completion      340 tokens × 0.6 per million   = 0.000204',
      'charged                                          0.000369',
      expect.stringMatching(/^held {10}0\.0009\d+ at admission, 0\.000\d+ given back$/),
      'counted by    the upstream (reported usage)',
      `attempts      1. up/first: status 500 after ${row.attempts[0]?.ms} ms`,
      `              2. up/second: ok after ${row.attempts[1]?.ms} ms`,
      '',
    ],
  ])
  expect(JSON.parse((await show(row.requestId, '--json')).stdout)).toMatchObject({
    object: 'request',
    request_id: row.requestId,
    state: 'settled',
    row: { cost: '0.000369', pricing: { prompt: '0.00000015', completion: '0.0000006' } },
    bill: [{ what: 'prompt', price: '0.15' }, { what: 'cached' }, { what: 'completion', price: '0.6' }],
  })
  const running = await show(open)
  expect([running.code, running.stdout]).toEqual([0, expect.stringContaining('it is still running, or it has died')])
})

test.each(['model', 'providers said', 'a name that is longer than the others'])(
  'the name %j does not run into its text',
  (name) => {
    expect(explanationLines([{ part: 'charge', name, lines: ['1. x'] }])[0]).toMatch(/^[a-z ]*[a-z] +1\. x$/)
  },
)
