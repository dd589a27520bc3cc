import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { catalogFor } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, DONE, type Reply, USAGE, usageChunk } from '../support/upstream.ts'
import * as anthropic from './anthropic/anthropic-fixtures.ts'
import { begin, metadata, openBedrock, START, stop, text } from './bedrock/bedrock-upstream.ts'
import * as responses from './responses/responses-upstream.ts'

const IDLE_MS = 150
/** Longer than silence may last once an upstream has spoken. */
const THINKS_MS = 600
const TIMEOUTS = { idleTimeoutMs: IDLE_MS, firstByteTimeoutMs: 5_000 }

type Frames = { readonly before: readonly string[]; readonly word: string; readonly after: readonly string[] }

type Dialect = 'openai' | 'anthropic' | 'responses'
const DIALECTS: Readonly<Record<Dialect, { readonly provider: object; readonly frames: Frames }>> = {
  openai: {
    provider: {},
    frames: {
      before: [': waiting\n\n', chunk({ role: 'assistant', content: '' })],
      word: chunk({ content: 'Hello' }),
      after: [chunk({}, 'stop'), usageChunk(USAGE), DONE],
    },
  },
  anthropic: {
    provider: { type: 'anthropic' },
    frames: {
      before: anthropic.frames(anthropic.start(), anthropic.PING),
      word: anthropic.frames(...anthropic.textBlock(0, 'Hello')).join(''),
      after: anthropic.frames(...anthropic.ending('end_turn')),
    },
  },
  responses: {
    provider: { contract: 'responses' },
    frames: {
      before: responses.frames(responses.CREATED),
      word: responses.frames({ type: 'response.output_text.delta', output_index: 0, delta: 'Hello' }).join(''),
      after: responses.frames(responses.completed([])),
    },
  },
}

const NAMES = Object.keys(DIALECTS) as Dialect[]
/** A wait that is not over when a test ends keeps no process alive. */
const sleep = (ms: number) => wait(ms, undefined, { ref: false })

async function open({ provider }: { readonly provider: object }) {
  const upstream = await openUpstream()
  const { providers, models } = catalogFor(upstream.url, {}, provider)
  const variant = (id: string, timeouts: object) =>
    models.map((model) => ({ ...model, id, routes: model.routes.map((one) => ({ ...one, ...TIMEOUTS, ...timeouts })) }))
  const all = [
    ...variant('test-model', {}),
    ...variant('hasty', { firstByteTimeoutMs: 400, idleTimeoutMs: 10_000 }),
    ...variant('whole', { firstByteTimeoutMs: 300_000 }),
  ]
  return { upstream, gateway: await openFor({ providers, models: all }) }
}

const gateways = {
  openai: await open(DIALECTS.openai),
  anthropic: await open(DIALECTS.anthropic),
  responses: await open(DIALECTS.responses),
}

async function ask(dialect: Dialect, reply: Reply, fields: object = {}) {
  const { upstream, gateway } = gateways[dialect]
  upstream.reply = reply
  const startMs = performance.now()
  const { status, text: body, row } = await gateway.ask(fields)
  return { status, body, row, ms: performance.now() - startMs }
}

const stream = (...steps: readonly (string | number)[]): Reply => {
  return async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const step of steps) {
      if (typeof step === 'number') await sleep(step)
      else response.write(step)
    }
    response.end()
  }
}

test.each(NAMES)('an upstream (%s) that thinks before its first word is waited for', async (dialect) => {
  const { before, word, after } = DIALECTS[dialect].frames
  for (const streamed of [true, false]) {
    const reply = stream(...before, THINKS_MS, word, ...after)
    const { status, body, row } = await ask(dialect, reply, { stream: streamed })
    expect(status).toBe(200)
    expect(body).toContain('Hello')
    expect(row.outcome).toBe('completed')
  }
})

test.each(NAMES)('an upstream (%s) that is silent after its first word is given up', async (dialect) => {
  const { before, word, after } = DIALECTS[dialect].frames
  const reply = stream(...before, word, THINKS_MS * 4, ...after)
  const { body, row } = await ask(dialect, reply, { stream: true })
  expect(body).toContain(`The upstream sent nothing for ${IDLE_MS} ms.`)
  expect(row.attempts).toMatchObject([{ result: 'timeout' }])
})

test.each(NAMES)('a trickle of other frames (%s) does not put off the first word’s time', async (dialect) => {
  const { before } = DIALECTS[dialect].frames
  const trickle = Array.from({ length: 60 }, () => [...before, ': still here\n\n', 50]).flat()
  const { status, ms, row } = await ask(dialect, stream(...trickle), { model: 'hasty', stream: true })
  expect([status, row.attempts[0]?.result]).toEqual([504, 'timeout'])
  expect(ms).toBeLessThan(2_000)
})

const answer = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: USAGE,
})
const json = (...steps: readonly (string | number)[]): Reply => {
  return async (response, request) => {
    response.setHeader('Content-Type', 'application/json')
    const { writeHead } = response
    response.writeHead = (code: number) => writeHead.call(response, code)
    await stream(...steps)(response, request)
  }
}

test('blank lines before a whole answer are no beginning, and its first sign is', async () => {
  const late = await ask('openai', json('\n', ' \r\n\t', THINKS_MS, '\n', THINKS_MS, answer), { model: 'whole' })
  expect([late.status, JSON.parse(late.body).choices[0].message.content]).toEqual([200, 'Hello'])
  const stalled = await ask('openai', json('\n', answer.slice(0, 20), THINKS_MS * 4, answer.slice(20)), {
    model: 'whole',
  })
  expect([stalled.status, stalled.row.attempts[0]?.result]).toEqual([504, 'timeout'])
})

test('a whole answer that comes as a stream may think before its first word, too', async () => {
  const { before, word, after } = DIALECTS.openai.frames
  const { status, body } = await ask('openai', stream(...before, THINKS_MS, word, ...after), { model: 'whole' })
  expect([status, JSON.parse(body).choices[0].message.content]).toEqual([200, 'Hello'])
})

test('an error whose body does not come is not waited for', async () => {
  const reply: Reply = async (response) => {
    response.writeHead(500, { 'Content-Type': 'application/json' })
    response.write(' ')
    await sleep(THINKS_MS * 4)
    response.end()
  }
  const { status, ms } = await ask('openai', reply, { model: 'whole' })
  expect(status).toBe(502)
  expect(ms).toBeLessThan(THINKS_MS * 3)
})

test('Bedrock that thinks before its first word is waited for, and given up when it is silent later', async () => {
  const { upstream, gateway } = await openBedrock({ thinker: { timeouts: TIMEOUTS } })
  const converse =
    (thinksMs: number, pausesMs: number): typeof upstream.reply =>
    async (response) => {
      begin(response)
      response.write(START)
      await sleep(thinksMs)
      response.write(text('Hello'))
      await sleep(pausesMs)
      response.end(Buffer.concat([stop('end_turn'), metadata()]))
    }
  const asked = async () => (await gateway.ask({ model: 'thinker', stream: true })).text
  upstream.reply = converse(THINKS_MS, 0)
  expect(await asked()).toMatch(/Hello.*\[DONE\]/s)
  upstream.reply = converse(0, THINKS_MS * 4)
  expect(await asked()).toMatch(/Hello.*sent nothing for 150 ms/s)
})
