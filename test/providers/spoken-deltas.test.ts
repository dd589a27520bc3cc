import { expect, test } from '@jest/globals'
import { openBoth } from '../support/stack.ts'
import { chunk, DONE, type Reply, sse, status, USAGE, usageChunk } from '../support/upstream.ts'

const { upstream, gateway } = await openBoth({ provider: { allowFields: ['modalities', 'audio'] } })

const ASK = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'pcm16' } }
const SOUND = { id: 'audio_1', data: 'UklGRiQA', transcript: 'Hello', expires_at: 7 }

/** Audio in pieces. Some upstreams forget the finish reason: null. */
const inPieces = (finishReason: string | null): Reply =>
  sse([
    chunk({ role: 'assistant', audio: { id: 'audio_1', data: 'UklG' } }),
    chunk({ audio: { data: 'RiQA', transcript: 'Hel' } }),
    chunk({ audio: { transcript: 'lo' } }),
    chunk({ audio: { expires_at: 7 } }, finishReason),
    usageChunk(USAGE),
    DONE,
  ])

const whole = (finish_reason: string | null): Reply =>
  status(200, {
    choices: [{ index: 0, message: { role: 'assistant', content: null, audio: SOUND }, finish_reason }],
    usage: USAGE,
  })

const ask = (stream: boolean) => gateway.ask({ ...ASK, stream })

test.each([
  ['pieces', inPieces('stop')],
  ['pieces without a finish reason', inPieces(null)],
  ['plain JSON', whole('stop')],
  ['plain JSON without a finish reason', whole(null)],
])('an audio-only answer in %s arrives whole and streamed, and is charged by its usage', async (_, reply) => {
  upstream.reply = reply
  const json = await ask(false)
  expect(json.status).toBe(200)
  expect(JSON.parse(json.text).choices).toEqual([
    expect.objectContaining({
      message: { role: 'assistant', content: null, refusal: null, audio: SOUND },
      finish_reason: 'stop',
    }),
  ])
  const streamed = await ask(true)
  const deltas = [...streamed.text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? '').choices?.[0])
  expect(deltas.map((choice) => choice?.delta.audio?.data ?? '').join('')).toBe(SOUND.data)
  expect(deltas.map((choice) => choice?.delta.audio?.transcript ?? '').join('')).toBe(SOUND.transcript)
  expect(deltas.filter((choice) => choice?.finish_reason === 'stop')).toHaveLength(1)
  expect(streamed.text).toMatch(/\[DONE\]\n\n$/)
  for (const { row } of [json, streamed]) {
    expect(row).toMatchObject({ outcome: 'completed', usageSource: 'upstream', cost: 20_000n })
  }
})

test('an answer with empty text and empty audio is a 502, unless its usage says that it is one', async () => {
  const empty = chunk({ role: 'assistant', content: '', audio: {}, annotations: [] })
  upstream.reply = sse([empty, DONE])
  expect((await ask(false)).status).toBe(502)
  upstream.reply = sse([empty, usageChunk(USAGE), DONE])
  expect(await ask(false)).toMatchObject({ status: 200, row: { outcome: 'completed', cost: 20_000n } })
})

/** As a JSON text has it: an object of JavaScript would take it for its own prototype. */
const evil = <T extends object>(fields: T): T =>
  JSON.parse(
    JSON.stringify({ EVIL: { content: 'x', function: 'x', refusal: 'x' }, ...fields }).replace('EVIL', '__proto__'),
  )

test.each([
  [
    'whole',
    status(200, {
      choices: [
        evil({
          index: 0,
          message: evil({ role: 'assistant', content: 'Hello' }),
          logprobs: evil({ content: [] }),
          finish_reason: 'stop',
        }),
      ],
      usage: USAGE,
    }),
  ],
  [
    'in pieces',
    sse([chunk(evil({ content: 'Hel' })), chunk(evil({ content: 'lo' }), 'stop'), usageChunk(USAGE), DONE]),
  ],
])(
  'a field of the name __proto__ in an answer that comes %s is a field like any other, and adds no words',
  async (_, reply) => {
    upstream.reply = reply
    const { choices } = JSON.parse((await gateway.ask()).text)
    expect(choices[0].message).toMatchObject({ role: 'assistant', content: 'Hello', refusal: null })
  },
)
