import { randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import { explanationLines } from '../../cli/commands/usage.ts'
import { keyHolding } from '../../layers/admin/api/requests.ts'
import { explainOpenHold, explainRequest } from '../../layers/admin/explain/explain-request.ts'
import { ulid, ulidTimeMs } from '../../layers/gateway/domain/basics/ulid.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { demandOf } from '../support/demand.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { openBoth, openStage } from '../support/stack.ts'
import { say, status, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: TestGateway
let key: Key
let secret: string

beforeAll(async () => {
  const both = await openBoth({
    model: {
      price: { input: '0.15', output: '0.60', cachedInput: '0.075' },
      routes: [
        { provider: 'up', model: 'first', priority: 0 },
        { provider: 'up', model: 'second', priority: 1 },
      ],
    },
  })
  upstream = both.upstream
  gateway = both.gateway
})
beforeEach(async () => {
  const issued = await gateway.issue({ name: 'acme', rpm: 60_000 })
  key = issued.key
  secret = issued.secret
  upstream.reply = say('Hello')
})

const LONG = { ...HELLO, messages: [{ role: 'user', content: 'a'.repeat(2_000) }] }
const newId = () => `req_${ulid(Date.now(), randomBytes(10))}`

async function ask(body: object = LONG): Promise<UsageRow> {
  const response = await gateway.post(secret, body)
  await response.text()
  return gateway.readRow(response.headers.get('x-request-id'))
}

/** The explanation of a row, from the stored row and the stored key. */
async function explain(row: UsageRow, nowMs = Date.now()): Promise<string> {
  const stored = await gateway.readRow(row.requestId)
  return explanationLines(explainRequest(stored, await gateway.readKey(row.keyId), nowMs)).join('\n')
}

/** The same row as if it had come out differently. */
async function variant(row: UsageRow, changes: Partial<UsageRow>): Promise<string> {
  return explain(await putUsageRow(gateway.tables)({ ...row, requestId: newId(), ...changes }))
}

async function leaveHold(requestId: string, hold: bigint, holdUntilMs: number): Promise<void> {
  const demand = demandOf(key, Date.now(), { requestId, hold, holdUntilMs })
  expect((await takeAdmission(gateway.tables)(await gateway.readKey(key.id), demand)).admitted).toBe(true)
}

test('a charge is explained line by line: tokens × price, the hold, who counted and every attempt', async () => {
  const usage = { prompt_tokens: 1_200, completion_tokens: 340, prompt_tokens_details: { cached_tokens: 200 } }
  const answer = say('Hello', usage)
  upstream.reply = (response, request) =>
    request.body.model === 'first' ? status(500, 'x')(response, request) : answer(response, request)
  const row = await ask({ ...LONG, max_tokens: 1000, stream: true })
  const lines = (await explain(row)).split('\n')
  expect(lines).toEqual([
    `request       ${row.requestId}`,
    `started       ${new Date(row.startedAtMs).toISOString()}`,
    `key           ${key.id} (acme)`,
    'endpoint      chat.completions, streamed',
    'model         test-model → up/second',
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
  ])
})

const attemptsOf = (...results: string[]) => results.map((result) => ({ provider: 'up', model: 'm', result, ms: 1 }))

/** Prices for more than tokens, and counts that they make 0.0218 of. */
const PRICES = { input: '1', output: '2', cachedInput: '0.5', cacheWrite: '1.25', request: '0.005', image: '0.001' }
const COUNTS = {
  ...{ promptTokens: 12_000, cachedTokens: 2_000, cacheWriteTokens: 4_000 },
  ...{ completionTokens: 900, reasoningTokens: 640, images: 3 },
}
const TIER = { input: '1', output: '2', cachedInput: '1', cacheWrite: '1.25', cacheWrite1h: '2', above: 272_000 }
const ODD = { input: '0.150001', output: '0.6', cachedInput: '0.075' }

/** The row has 10 prompt and 5 completion tokens, which cost 0.0000045. */
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
  [
    'the provider said something',
    { attempts: [{ provider: 'up', model: 'm', result: 'status 500', ms: 1, said: 'server_error' }] },
    /^provider said 1\. server_error$/m,
  ],
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
    {
      ...{ promptTokens: 300_000, cachedTokens: 0, cacheWriteTokens: 5_000, cacheWrite1hTokens: 2_000 },
      ...{ price: TIER, hold: 10n ** 9n },
    },
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
])('a charge is explained when %s', async (_, changes, ...words) => {
  const row = await ask()
  expect([row.cost, await explain(row)]).toEqual([4_500n, expect.not.stringMatching(/rounded|^tier |cost us|margin/m)])
  const shown = await variant(row, changes)
  for (const one of [...words, /^charged {10,}0/m]) expect(shown).toMatch(one)
})

test('a charge is explained by its tokens when no price is stored, or the row is damaged', async () => {
  const row = await ask()
  const old = await variant(row, { ...COUNTS, price: undefined, priceVersion: 7, hold: 30_000_000n })
  expect(old).toMatch(/^prompt +12,000 tokens, of them 2,000 cached and 4,000 written to the cache$/m)
  expect(old).toMatch(/^completion +900 tokens, of them 640 reasoning$/m)
  expect(old).toMatch(/^charged +0\.0000045; this row has no price stored \(version 7 of the catalog\)/m)
  expect(await variant(row, { promptTokens: 1.5 })).toMatch(/^charged +0\.0000045; .*damaged/m)
})

test('a charge for cache writes, reasoning, the request and images is explained in columns', async () => {
  const shown = await variant(await ask(), { ...COUNTS, price: PRICES, cost: 21_800_000n, hold: 30_000_000n })
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
  [
    'a process that died',
    { outcome: 'abandoned', httpStatus: 0, usageSource: 'none', cost: 0n, attempts: [] },
    'its process died, and a provider may bill up to its hold',
  ],
])('a loss is explained by %s', async (_, changes, why) => {
  const row = await ask()
  expect(await explain(row)).not.toMatch(/^loss/m)
  const shown = await variant(row, { ...changes, loss: 2_000_000n })
  expect(shown.split('\n')).toContain(`loss          may have cost us 0.002 beyond the charge: ${why}`)
})

test('a failed request is explained as free because no provider accepted it', async () => {
  upstream.reply = status(500, 'x')
  const shown = await explain(await ask())
  expect(shown).toContain(
    'charged       0: no provider accepted it, or the provider said that it failed (upstream_error), and that is free',
  )
  expect(shown).toMatch(/^held .* at admission, 0\.\d+ given back$/m)
  expect(shown).toMatch(/^attempts +1\. up\/\S+: status 500/m)
})

test('a refused request is explained as free, whether the gateway or the upstream refused it', async () => {
  const shown = await explain(await ask({ ...HELLO, model: 'nope' }))
  expect(shown).toContain('error         model_not_found')
  expect(shown).toContain('charged       0: it was refused before it went to a model (model_not_found)')
  expect(shown).toContain('held          nothing')
  upstream.reply = status(400, { error: { message: 'no', code: 'bad_thing' } })
  expect(await explain(await ask())).toContain('charged       0: it was refused by the upstream (bad_thing)')
})

test('a request to a free endpoint is explained as free', async () => {
  const id = (await gateway.get(secret, '/v1/models')).headers.get('x-request-id')
  expect(await explain(await gateway.readRow(id))).toContain('charged       0: this endpoint is free')
})

test('a replayed answer is explained as free, with the request that it repeats', async () => {
  const twice = () => gateway.post(secret, HELLO, { 'Idempotency-Key': 'again' })
  const [first, again] = [await twice(), await twice()].map(({ headers }) => headers.get('x-request-id'))
  const shown = await explain(await gateway.readRow(again))
  expect(shown).toContain(`charged       0: it is the answer of ${first} once more, for the same Idempotency-Key`)
})

test('a request whose process died is explained as free', async () => {
  const requestId = newId()
  await leaveHold(requestId, 12_300n, Date.now() - 1)
  const hold = (await keyHolding(gateway.tables, requestId))?.holds[requestId]
  if (!hold) throw new Error('The hold was not found.')
  await gateway.instance.finishHold(key.id, { requestId, ...hold })
  const shown = await explain(await gateway.readRow(requestId))
  expect(shown).toContain('status        none: no answer was sent')
  expect(shown).toContain('charged       0: its process died before it could settle')
  expect(shown).toContain('held          0.0000123 at admission, 0.0000123 given back')
})

test('an unsettled request with a row is explained as such, before and after its time', async () => {
  const row = await ask()
  const requestId = newId()
  const untilMs = ulidTimeMs(requestId) + 64_000
  await leaveHold(requestId, row.hold, untilMs)
  const open = await putUsageRow(gateway.tables)({ ...row, requestId })
  const until = new Date(untilMs).toISOString()
  expect(await explain(open)).toContain(
    `at admission, and still: not settled yet; 0.0000045 will be taken and the rest given back, at the latest by the sweep after ${until}`,
  )
  expect(await explain(open, untilMs)).toContain(`its time was over at ${until}; 0.0000045 will be taken`)
})

test('an unsettled request without a row is explained as running or dead, with its hold and until when', async () => {
  const requestId = newId()
  const untilMs = ulidTimeMs(requestId) + 64_000
  await leaveHold(requestId, 12_300n, untilMs)
  const holder = await keyHolding(gateway.tables, requestId)
  const hold = holder?.holds[requestId]
  if (!hold) throw new Error('The hold was not found.')
  expect(holder.id).toBe(key.id)
  const shown = (nowMs: number) => explanationLines(explainOpenHold(requestId, holder, hold, nowMs)).join('\n')
  expect(shown(untilMs - 1)).toContain('no row yet: it is still running, or it has died')
  expect(shown(untilMs - 1)).toContain(`held          0.0000123 until ${new Date(untilMs).toISOString()}`)
  expect(shown(untilMs)).toContain('no row: it has died; the sweep, every 5 minutes, writes its row')
  expect(await keyHolding(gateway.tables, newId())).toBeUndefined()
})

test('waybill usage show prints the explanation, and with --json the request as the admin API has it', async () => {
  const row = await ask()
  const open = newId()
  await leaveHold(open, 12_300n, Date.now() + 60_000)
  const stage = await openStage(gateway.tables)
  const show = (...args: string[]) => stage.waybill(['usage', 'show', ...args, '--stage', 'dev'])
  const [people, json, running] = await Promise.all([show(row.requestId), show(row.requestId, '--json'), show(open)])
  expect([people.code, people.stdout]).toEqual([0, `${await explain(row)}\n`])
  expect(JSON.parse(json.stdout)).toMatchObject({
    object: 'request',
    request_id: row.requestId,
    state: 'settled',
    row: { cost: '0.0000045', pricing: { prompt: '0.00000015', completion: '0.0000006' } },
    bill: [
      { what: 'prompt', price: '0.15' },
      { what: 'completion', price: '0.6' },
    ],
  })
  expect([running.code, running.stdout]).toEqual([0, expect.stringContaining('it is still running, or it has died')])
})
