import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import OpenAI from 'openai'
import { HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { AnswerCipher, answerId } from '../../layers/gateway/flow/idempotency/answer-vault.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { scanItems } from '../../layers/gateway/store/dynamodb/database.ts'
import { answerStore } from '../../layers/gateway/store/idempotency/answers.ts'
import { rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { actAt } from '../support/act.ts'
import { completedRow } from '../support/completed-row.ts'
import { demandOf } from '../support/demand.ts'
import { booksBalance, HELLO } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, DONE, holdAnswers, say, sse, status, USAGE, usageChunk } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

const COST = 20_000n
let nowMs = Date.UTC(2026, 10, 15, 12)
const { upstream, gateway } = await openBoth({ clock: () => nowMs, model: { maxOutputTokens: 400_000 } })
beforeEach(() => {
  upstream.reply = say('Hello')
})

const STREAM = { ...HELLO, stream: true, stream_options: { include_usage: true } }
const withKey = (name: string) => ({ 'Idempotency-Key': name })

async function post(secret: string, name: string, body: unknown = HELLO) {
  const response = await gateway.post(secret, body, withKey(name))
  const { status: code, headers } = response
  const text = await response.text()
  const error = response.ok ? undefined : JSON.parse(text).error
  return { status: code, headers, text, error, isReplay: headers.get('x-svc-replayed') === 'true' }
}

describe('repeated requests', () => {
  test('a request repeated with its Idempotency-Key gets the first JSON answer again, to the byte and free', async () => {
    const { key, secret } = await gateway.issue({ credits: '10' })
    upstream.reply = say('Hello 🌍')
    const asked = upstream.requests.length
    const first = await post(secret, 'a')
    const again = await post(secret, 'a')
    expect(first.isReplay).toBe(false)
    expect(again).toMatchObject({ status: 200, text: first.text, isReplay: true })
    expect([again.headers.get('content-type'), again.headers.get('x-svc-cost')]).toEqual(['application/json', '0'])
    expect(upstream.requests.length - asked).toBe(1)
    const available = parseCredits('10') as bigint
    expect(await gateway.readKey(key.id)).toMatchObject({ spent: COST, available: available - COST, holds: {} })
    const firstId = first.headers.get('x-request-id')
    const row = await gateway.readRow(again.headers.get('x-request-id'))
    expect(row).toMatchObject({ cost: 0n, outcome: 'completed', replayOf: firstId, model: 'test-model' })
    const asSeen = await (await gateway.get(secret, `/v1/usage/${row.requestId}`)).json()
    expect(asSeen).toMatchObject({ replay_of: firstId, cost: '0' })
  })

  test('a request repeated with its Idempotency-Key gets the first stream again, frame by frame and free', async () => {
    const { key, secret } = await gateway.issue()
    const first = await post(secret, 'a', STREAM)
    const again = await post(secret, 'a', STREAM)
    expect(first.text).toContain(': x-svc-cost 0.00002\n')
    expect(again.text).toBe(first.text.replace(': x-svc-cost 0.00002\n', ': x-svc-cost 0\n'))
    expect(again.headers.get('content-type')).toContain('text/event-stream')
    expect(again.isReplay).toBe(true)
    expect((await gateway.readKey(key.id)).spent).toBe(COST)
  })

  test('a request repeated with its Idempotency-Key is answered without any balance, and counts in the limits', async () => {
    const { secret } = await gateway.issue({ credits: '0.0019', rpm: 3 })
    const body = { ...HELLO, max_tokens: 700 }
    upstream.reply = say('Hello', { prompt_tokens: 10, completion_tokens: 600 })
    expect((await post(secret, 'a', body)).status).toBe(200)
    expect((await post(secret, 'b', body)).status).toBe(402)
    expect((await post(secret, 'a', body)).isReplay).toBe(true)
    const refused = await post(secret, 'a', body)
    expect([refused.status, refused.isReplay]).toEqual([429, false])
  })

  test('the same Idempotency-Key under another API key is a new request', async () => {
    const [one, other] = [await gateway.issue(), await gateway.issue()]
    upstream.reply = say('Hello')
    await post(one.secret, 'shared')
    expect((await post(other.secret, 'shared')).isReplay).toBe(false)
    expect((await gateway.readKey(other.key.id)).spent).toBe(COST)
  })

  test('the same Idempotency-Key is a new request after 24 hours, and not before', async () => {
    const { secret } = await gateway.issue()
    const start = nowMs
    await post(secret, 'a')
    nowMs = start + 24 * HOUR_MS - 1_000
    expect((await post(secret, 'a')).isReplay).toBe(true)
    nowMs = start + 24 * HOUR_MS + 1_000
    expect((await post(secret, 'a')).isReplay).toBe(false)
  })

  test('a request repeated with its Idempotency-Key while the first is under way is a 409, and asks no upstream', async () => {
    const { key, secret } = await gateway.issue({ rpm: 600 })
    const answer = holdAnswers(upstream)
    const asked = upstream.requests.length
    const racing = Array.from({ length: 20 }, () => post(secret, 'a', STREAM))
    await until(() => upstream.requests.length > asked)
    const refused = await post(secret, 'a', STREAM)
    expect(refused.status).toBe(409)
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
    expect(refused.error).toMatchObject({ type: 'idempotency_error', code: 'idempotency_key_in_use' })
    answer()
    const answers = await Promise.all(racing)
    // A request that came very late may get the kept answer.
    const answered = answers.filter((response) => response.status === 200)
    expect(answered.filter(({ isReplay }) => !isReplay)).toHaveLength(1)
    expect(answers.filter((response) => response.status === 409)).toHaveLength(20 - answered.length)
    expect(upstream.requests.length - asked).toBe(1)
    expect(await gateway.readKey(key.id)).toMatchObject({ spent: COST, holds: {} })
    expect((await post(secret, 'a', STREAM)).isReplay).toBe(true)
  })
})

describe('Idempotency-Keys', () => {
  test('an Idempotency-Key that comes with a different body is a 422, and the first answer stays', async () => {
    const { secret } = await gateway.issue()
    const first = await post(secret, 'a')
    const other = await post(secret, 'a', { ...HELLO, temperature: 0 })
    expect([other.status, other.error.code]).toEqual([422, 'idempotency_key_reused'])
    expect((await post(secret, 'a')).text).toBe(first.text)
  })

  test.each([
    ['of 256 characters', 'x'.repeat(256)],
    ['with a space', 'a b'],
  ])('an Idempotency-Key %s is a 400 that states the rule', async (_, name) => {
    const { secret } = await gateway.issue()
    const response = await post(secret, name)
    const rule = expect.stringContaining('1 to 255 visible ASCII characters')
    expect([response.status, response.error.message]).toEqual([400, rule])
  })

  test('an Idempotency-Key whose request was refused or failed can be used again', async () => {
    const { key, secret } = await gateway.issue({ maxConcurrent: 1 })
    upstream.reply = status(500, { error: { message: 'no' } })
    expect((await post(secret, 'a')).status).toBe(502)
    await updateKey(gateway.tables)(key.id, { rpm: 1, dailyLimit: 1 }, actAt())
    expect((await post(secret, 'a')).status).toBe(429)
    await updateKey(gateway.tables)(key.id, { rpm: 60, dailyLimit: 1_000 }, actAt())
    upstream.reply = say('Hello')
    const third = await post(secret, 'a')
    expect([third.status, third.isReplay]).toEqual([200, false])
  })

  test('an Idempotency-Key whose stream broke can be used again, and the retry is a new answer at full price', async () => {
    const { key, secret } = await gateway.issue()
    upstream.reply = sse([chunk({ role: 'assistant', content: 'Hel' })])
    expect((await post(secret, 'a', STREAM)).text).toContain('"error"')
    const paid = (await gateway.readKey(key.id)).spent
    expect(paid).toBeGreaterThan(0n)
    upstream.reply = say('Hello')
    expect((await post(secret, 'a', STREAM)).text).toContain('[DONE]')
    expect((await gateway.readKey(key.id)).spent).toBe(paid + COST)
  })

  test('a repeat of an answer too large to be kept is a 409 that SDKs do not retry, and is not charged', async () => {
    const { key, secret } = await gateway.issue()
    const large = randomBytes(450_000).toString('base64')
    upstream.reply = sse([
      ...(large.match(/.{1,600}/g) ?? []).map((content) => chunk({ content })),
      chunk({}, 'stop'),
      usageChunk(USAGE),
      DONE,
    ])
    const body = { ...HELLO, max_tokens: 400_000, n: 5 }
    expect((await post(secret, 'a', body)).status).toBe(200)
    const again = await post(secret, 'a', body)
    expect([again.status, again.error.code]).toEqual([409, 'idempotent_answer_not_kept'])
    expect(again.headers.get('x-should-retry')).toBe('false')
    expect((await gateway.readKey(key.id)).spent).toBe(COST)
  })

  test('a kept answer goes only to the secret that asked for it, not to the other secret of the same key', async () => {
    const { key, secret } = await gateway.issue()
    await post(secret, 'a')
    const next = issueSecret('svc_live_', randomBytes)
    await rotateKey(gateway.tables)(key.id, next.stored, actAt(nowMs))
    const other = await post(next.secret, 'a')
    expect([other.status, other.error.code]).toEqual([409, 'idempotent_answer_not_kept'])
    expect((await post(secret, 'a')).isReplay).toBe(true)
  })
})

describe('dead requests', () => {
  /** Leaves the claim and the hold of a request that died; with a cost also its row. */
  async function leaveDead(name: string, cost?: bigint) {
    const { key, secret } = await gateway.issue()
    const id = answerId(key.id, name)
    const untilMs = nowMs + 960_000
    const demand = demandOf(key, nowMs, { hold: 5_000_000n, holdUntilMs: untilMs })
    const { requestId, hash } = demand
    const bodyPrint = new AnswerCipher(secret, id).fingerprint(`chat.completions\n${JSON.stringify(HELLO)}`)
    await answerStore(gateway.tables).claim({ id, requestId, secretHash: hash, bodyPrint, untilMs }, nowMs)
    await takeAdmission(gateway.tables)(key, demand)
    const settled = { requestId, keyId: key.id, hold: 5_000_000n, startedAtMs: nowMs }
    if (cost !== undefined) await putUsageRow(gateway.tables)(completedRow({ ...settled, cost }))
    return { key, secret, requestId }
  }

  test('a repeat of a request that died uncharged is a 409 until its time is over, and then answered and charged once', async () => {
    const { key, secret, requestId } = await leaveDead('A01')
    expect((await post(secret, 'A01')).status).toBe(409)
    nowMs += 960_000
    const taken = await Promise.all([post(secret, 'A01'), post(secret, 'A01'), post(secret, 'A01')])
    expect(taken.filter((response) => response.headers.get('x-svc-cost') === '0.00002')).toHaveLength(1)
    const after = await gateway.readKey(key.id)
    expect(after).toMatchObject({ spent: COST, holds: {} })
    expect(booksBalance(after)).toBe(true)
    expect(await gateway.readRow(requestId)).toMatchObject({ outcome: 'abandoned', cost: 0n })
    expect((await post(secret, 'A01')).isReplay).toBe(true)
  })

  test('a repeat of a request that died after its charge is not charged again', async () => {
    const { key, secret } = await leaveDead('A02', 700n)
    nowMs += 960_000
    const again = await post(secret, 'A02')
    expect([again.status, again.error.code]).toEqual([409, 'idempotent_answer_not_kept'])
    expect(await gateway.readKey(key.id)).toMatchObject({ spent: 700n, holds: {} })
  })
})

test('the table of kept answers reveals no answer, prompt or Idempotency-Key, and no other secret decrypts it', async () => {
  const { secret } = await gateway.issue()
  const name = `order-${randomUUID()}`
  upstream.reply = say('the wombat is in the cellar')
  await post(secret, name, { ...HELLO, messages: [{ role: 'user', content: 'where is the wombat?' }] })
  const { database, answers } = gateway.tables
  const items = await Array.fromAsync(scanItems(database, { TableName: answers }))
  const dump = items.map((item) => JSON.stringify(item) + Buffer.from((item.sealed as Uint8Array) ?? []).toString())
  expect(dump.length).toBeGreaterThan(0)
  for (const told of ['wombat', name, secret]) expect(dump.join()).not.toContain(told)
  const sealed = items.filter((item) => item.sealed)
  for (const { id, sealed: bytes } of sealed) {
    const stranger = new AnswerCipher(`svc_live_${'a'.repeat(43)}`, id as string)
    expect(() => stranger.decrypt(bytes as Uint8Array)).toThrow()
  }
})

test('a kept answer cannot be changed unnoticed, or moved to another Idempotency-Key', () => {
  const cipher = new AnswerCipher('svc_live_x', 'one')
  const sealed = cipher.encrypt('answer') as Uint8Array
  expect(cipher.decrypt(sealed)).toBe('answer')
  expect(() => new AnswerCipher('svc_live_x', 'two').decrypt(sealed)).toThrow()
  for (let i = 0; i < sealed.length; i++) {
    const changed = Uint8Array.from(sealed)
    changed[i] = (changed[i] ?? 0) ^ 1
    expect(() => cipher.decrypt(changed)).toThrow()
  }
})

test.each([
  ['its own Idempotency-Key', true],
  ['an Idempotency-Key from the caller', false],
])('the openai SDK with %s retries a lost answer by itself, gets it again and pays once', async (_, isItsOwn) => {
  const { key, secret } = await gateway.issue()
  let losses = 1
  const client = new OpenAI({
    baseURL: `${gateway.baseUrl}/v1`,
    apiKey: secret,
    async fetch(url, init) {
      const response = await fetch(url, init)
      if (losses-- <= 0) return response
      await response.text()
      throw new TypeError('fetch failed')
    },
  })
  if (isItsOwn) Object.assign(client, { idempotencyHeader: 'Idempotency-Key' })
  const { data, response } = await client.chat.completions
    .create(
      { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] },
      isItsOwn ? {} : { headers: withKey(randomUUID()) },
    )
    .withResponse()
  expect(data.choices[0]?.message.content).toBe('Hello')
  expect(response.headers.get('x-svc-replayed')).toBe('true')
  expect((await gateway.readKey(key.id)).spent).toBe(COST)
})
