import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { openApart, openFor, openUpstream } from '../support/stack.ts'
import { DONE, event, type Reply, usageChunk } from '../support/upstream.ts'
import { writeOn } from './support/write-apart.ts'

// The numbers that docs/deploy.md states. They are of one request; a function has one at a time.
const MOST_MB = 160
/** Its thread is in the gateway's process here. In AWS it is a function of its own. */
const TOKENIZER_MB = 300

const CHOICES = 8
const TOKENS = 4_000

/** Eight choices with twenty alternatives to each token: 60 MB of events for 32,000 tokens. */
const manyLogprobs: Reply = async (response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  await writeOn(response, events())
  response.end()
}

function* events() {
  const alternative = { token: ' wombat', logprob: -12.345678, bytes: [32, 119, 111, 109, 98, 97, 116] }
  const content = [{ ...alternative, top_logprobs: Array(20).fill(alternative) }]
  for (let i = 0; i < TOKENS; i++) {
    let batch = ''
    for (let index = 0; index < CHOICES; index++) {
      batch += event({
        choices: [{ index, delta: { content: ' wombat' }, logprobs: { content }, finish_reason: null }],
      })
    }
    yield batch
  }
  for (let index = 0; index < CHOICES; index++) yield event({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })
  yield usageChunk({ prompt_tokens: 10, completion_tokens: TOKENS * CHOICES }) + DONE
}

const upstream = await openUpstream(manyLogprobs)
const books = await openFor(catalogFor(upstream.url, { maxOutputTokens: 16_384 }))
const { secret } = await books.issue({ credits: '1000' })
const gateway = await openApart(books.tables)

/** The most memory that the gateway's process has ever had. */
function peakMb(): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8'))
  return Number(line?.[1]) / 1024
}

async function ask(fields: object) {
  const body = JSON.stringify({ ...HELLO, ...fields })
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
  const init = { method: 'POST', headers: { ...headers, 'Idempotency-Key': hash('sha1', body) }, body }
  const response = await fetch(`${gateway.url}/v1/chat/completions`, init)
  const text = await response.text()
  return { status: response.status, text, row: await books.readRow(response.headers.get('x-request-id')) }
}

const LARGE = { n: CHOICES, logprobs: true, top_logprobs: 20, max_tokens: 16_384 }

test('an answer of 60 MB with an Idempotency-Key stays within the documented memory and is charged, streamed or not', async () => {
  await ask({ messages: [] })
  const idle = peakMb()
  const streamed = await ask({ ...LARGE, stream: true })
  expect(streamed.text.length).toBeGreaterThan(50_000_000)
  expect(streamed.text.endsWith('data: [DONE]\n\n')).toBe(true)
  expect(streamed.row).toMatchObject({ completionTokens: TOKENS * CHOICES, usageSource: 'upstream' })
  expect(peakMb() - idle).toBeLessThan(MOST_MB)
  const again = await ask({ ...LARGE, stream: true })
  expect([again.status, JSON.parse(again.text).error.code]).toEqual([409, 'idempotent_answer_not_kept'])

  const whole = await ask(LARGE)
  const { choices } = JSON.parse(whole.text) as { choices: { finish_reason: string; message: { content: string } }[] }
  expect(choices.map((choice) => choice.finish_reason)).toEqual(Array(CHOICES).fill('length'))
  const tokens = choices.reduce((sum, { message }) => sum + message.content.length / ' wombat'.length, 0)
  expect(tokens).toBeGreaterThan(3_000)
  expect(whole.row?.completionTokens).toBeGreaterThanOrEqual(tokens)
  expect(peakMb() - idle).toBeLessThan(MOST_MB + TOKENIZER_MB)
}, 180_000)
