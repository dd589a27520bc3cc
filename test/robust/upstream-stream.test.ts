import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { openUpstream } from '../support/stack.ts'
import { chunk, DONE, event, type Reply, say, sse, status, USAGE, usageChunk } from '../support/upstream.ts'
import { openBench, PROVIDER_KEY } from './support/bench.ts'
import { type Exchange, expectBooksClosed } from './support/exchange.ts'
import { inPieces } from './support/write-apart.ts'

const bench = await openBench()

async function expectAnswers(reply: Reply, text: string): Promise<void> {
  const all = await bench.askAll(reply)
  await Promise.all(all.map((asked) => bench.expectAnswered(asked, text)))
}

async function expectFailures(
  reply: Reply,
  httpStatus: number,
  code: string | null,
  fields: object = {},
  isPaid = false,
): Promise<readonly Exchange[]> {
  const all = await bench.askAll(reply, fields)
  await Promise.all(all.map((asked) => bench.expectFailed(asked, httpStatus, code, isPaid)))
  await bench.expectNextIsFine()
  return all
}

describe('text in pieces', () => {
  const TEXT = 'é漢👨‍👩‍👧 שָׁלוֹם 🇨🇭'
  const ENDS = { LF: '\n', CRLF: '\r\n', CR: '\r' }
  const delta = JSON.stringify({ choices: [{ index: 0, delta: { content: TEXT } }] })
  const encode = (text: string, end: string) => Buffer.from(text.replaceAll('\n', end))
  const close = chunk({}, 'stop') + usageChunk(USAGE) + DONE

  test.each(Object.entries(ENDS))(
    'an upstream’s stream that arrives cut at any byte, or byte by byte, gives the same text (%s line ends)',
    async (_name, end) => {
      const frame = encode(`data: ${delta}\n\n`, end)
      function* everyCut() {
        for (let at = 1; at < frame.length; at++) yield* [frame.subarray(0, at), frame.subarray(at)]
        yield encode(close, end)
      }
      await expectAnswers(inPieces(everyCut), TEXT.repeat(frame.length - 1))
      const bytes = encode(`: hello\n\ndata: ${delta}\n\nevent: x\ndata: ${delta}\n\n${close}`, end)
      const singly = () => Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1))
      await expectAnswers(inPieces(singly), TEXT.repeat(2))
    },
  )

  test('a character that comes in two escaped halves in two events is one character', async () => {
    const half = (escaped: string) => chunk({ content: '@' }).replace('@', escaped)
    const reply = sse([half('\\ud83d'), half('\\udc4d'), close])
    await expectAnswers(reply, '👍')
  })

  test.each([0, 1])('a long answer loses no character at the edge of a buffer (shifted by %i)', async (shift) => {
    const text = 'x'.repeat(shift) + '👍'.repeat(20_000)
    await expectAnswers(say(text), text)
  })
})

describe('forms of an event stream', () => {
  const [hello, world] = [chunk({ content: 'Hello' }), chunk({ content: ' world' })]
  const tail = chunk({}, 'stop') + usageChunk(USAGE)
  const all = hello + world + tail + DONE
  const lines = (text: string, change: (line: string) => string) => text.split('\n').map(change).join('\n')
  const jsonLine = (line: string) => line.startsWith('data: {')

  test.each<[string, string]>([
    ['LF line ends', all],
    ['CRLF line ends', all.replaceAll('\n', '\r\n')],
    ['bare CR line ends', all.replaceAll('\n', '\r')],
    ['line ends of all kinds', hello + world.replaceAll('\n', '\r\n') + tail.replaceAll('\n', '\r') + DONE],
    ['a byte order mark', `\uFEFF${all}`],
    ['comments between events', `: one\n\n${hello}:\n\n: OPENROUTER PROCESSING\n\n${world}:two\n${tail}${DONE}`],
    ['comments within an event', all.replaceAll('data: {', ': in between\ndata: {')],
    ['event, id and retry fields', all.replaceAll('data: {', 'event: message\nid: 7\nretry: 3000\ndata: {')],
    ['unknown fields', all.replaceAll('data: {', 'x-of-the-future: 1\nnonsense\ndata: {')],
    ['no blank after the colon', all.replaceAll('data: ', 'data:')],
    ['data in several lines', lines(all, (line) => (jsonLine(line) ? line.replaceAll(',"', ',\ndata: "') : line))],
    ['no blank line after the last event', all.trimEnd()],
    ['no line end after the last event', all.replace(/\n+$/, '')],
    ['extra blank lines', all.replaceAll('\n\n', '\n\n\n\n')],
    ['no [DONE]', hello + world + tail],
    ['an event cut off after [DONE]', `${all}data: {"choices":[{"index":0,"delta":{"content":" and mo`],
    ['another answer after [DONE]', all + hello + world],
    ['nonsense after [DONE]', `${all}\u0000\u0001 <html> {]`],
    ['a usage report with the last words', hello + chunk({ content: ' world' }, 'stop', { usage: USAGE }) + DONE],
    ['usage in every chunk', chunk({ content: 'Hello' }, null, { usage: {} }) + world + tail + DONE],
    [
      'choices that are not objects',
      `${hello}${event({ choices: [null, 5, 'x'] })}${event({ choices: 7 })}${world}${tail}`,
    ],
    ['events without choices', event({}) + hello + event({ object: 'x' }) + world + tail + DONE],
  ])('an event stream with %s is understood', async (_name, text) => {
    await expectAnswers(sse([text]), 'Hello world')
  })

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
    'an answer of the type %s in place of a stream is understood',
    async (type) => {
      const message = { role: 'assistant', content: 'Hello world' }
      const body = { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE }
      await expectAnswers(status(200, body, { 'Content-Type': type }), 'Hello world')
    },
  )
})

describe('bad answers', () => {
  const html = '<html><body>data: sign in\n\ndata: please\n\n</body></html>'
  const json = (text: string) => status(200, text)

  const QUOTED = /overloaded|bad key|no money|forbidden|no such model|slow|sign in|Welcome/

  test.each<[string, Reply]>([
    ['an HTML page', status(200, '<html>Welcome</html>', { 'Content-Type': 'text/html' })],
    ['an HTML page that looks like events', status(200, html, { 'Content-Type': 'text/html' })],
    ['nothing', status(200, '', { 'Content-Type': 'text/event-stream' })],
    ['nothing as JSON', json('')],
    ['nothing but [DONE]', sse([DONE])],
    ['nothing but comments', sse([': one\n\n', ': two\n\n'])],
    ['nothing but a role', sse([chunk({ role: 'assistant', content: '' }), DONE])],
    ['no Content-Type', (response) => void response.writeHead(200).end('ok')],
    ['JSON cut short', json('{"choices":[{"index":0,"message":{"content":"Hel')],
    ['an event cut short', sse(['data: {"choices":[{"index":0,"delta":{"content":"Hel'])],
    ['an event that is not JSON', sse(['data: hello\n\n'])],
    ['an event that is an array', sse(['data: [1]\n\n'])],
    ['an event that is null', sse(['data: null\n\n'])],
    ['JSON that is a string', json('"hello"')],
    ['fewer bytes than promised', (response) => shortOf(response, '{"choices":')],
  ])(
    'a request whose upstream accepts it and answers with %s is a 502 that does not quote it, and is paid',
    async (_, reply) => {
      const all = await expectFailures(reply, 502, 'upstream_error', {}, true)
      expect(all.map(({ body }) => body).join(' ')).not.toMatch(QUOTED)
    },
  )

  test('empty words that are far more than the tokens asked for end a stream with an error frame', async () => {
    for (const [count, done] of [
      [250, true],
      [300, false],
    ] as const) {
      const pieces = [chunk({ content: 'Hi' }), ...Array(count).fill(chunk({ content: '' })), usageChunk(USAGE), DONE]
      expect(await bench.ask(sse(pieces), { stream: true, max_tokens: 5 })).toMatchObject({ text: 'Hi', done })
    }
  })

  test('a usage without an answer is an empty answer, and paid', async () => {
    for (const asked of await bench.askAll(sse([usageChunk(USAGE), DONE]))) await bench.expectAnswered(asked, '')
  })

  test.each<[string, Reply, number, string]>([
    ['an error in JSON', json('{"error":{"message":"overloaded","code":500}}'), 502, 'upstream_error'],
    ['an error in words', json('{"error":"overloaded"}'), 502, 'upstream_error'],
    ['an error event', sse([event({ error: { message: 'overloaded' } })]), 502, 'upstream_error'],
    ['a 204', (response) => void response.writeHead(204).end(), 502, 'upstream_error'],
    ['a 401 about the operator’s key', status(401, refusal('bad key')), 502, 'upstream_error'],
    ['a 402 about the operator’s account', status(402, refusal('no money')), 502, 'upstream_error'],
    ['a 403 about the operator’s rights', status(403, refusal('forbidden')), 502, 'upstream_error'],
    ['a 404', status(404, refusal('no such model')), 502, 'upstream_error'],
    ['a 408', status(408, refusal('too slow')), 504, 'upstream_timeout'],
    ['a 429', status(429, refusal('slow down')), 503, 'upstream_rate_limited'],
    ['a 500 of HTML', status(500, '<html>', { 'Content-Type': 'text/html' }), 502, 'upstream_error'],
    ['an empty 503', status(503, ''), 502, 'upstream_error'],
  ])(
    'a request whose upstream answers with %s is a free 502, 503 or 504 that does not quote it',
    async (_name, reply, httpStatus, code) => {
      const all = await expectFailures(reply, httpStatus, code)
      // Anthropic's own word for the type of an error is none of the upstream's.
      expect(all.map(({ body }) => body.replace('overloaded_error', '')).join(' ')).not.toMatch(QUOTED)
    },
  )

  test.each([301, 302, 303, 307, 308])('a redirect (%i) of an upstream is not followed, and is a 502', async (code) => {
    const elsewhere = await openUpstream()
    const reply = status(code, '', { Location: `${elsewhere.url}/chat/completions` })
    await expectFailures(reply, 502, 'upstream_error')
    expect(elsewhere.requests).toEqual([])
  })

  test.each([
    [400, 400],
    [422, 400],
    [413, 413],
  ])(
    'an upstream’s %i about the request is passed on as %i in its own words, without the provider’s key',
    async (from, to) => {
      const message = `Too long. You sent 'Authorization: Bearer ${PROVIDER_KEY}' (${PROVIDER_KEY}) and sk-proj-abc***wxyz1234.`
      const error = { message, type: 'x', param: 'messages', code: 'context_length_exceeded' }
      for (const asked of await expectFailures(status(from, { error }), to, 'context_length_exceeded')) {
        const message = "Too long. You sent 'Authorization: Bearer [key]' ([key]) and [key]."
        const openAi = { message, type: 'invalid_request_error', code: 'context_length_exceeded' }
        if (asked.contract === 'chat') expect(asked.error).toEqual({ ...openAi, param: 'messages' })
        if (asked.contract === 'responses') expect(asked.error).toEqual({ ...openAi, param: 'input' })
        expect(asked.error?.message).toBe(message)
        expect(asked.headers.get('x-svc-provider')).toBe('up')
      }
    },
  )

  test.each<[string, unknown]>([
    ['without a body', ''],
    ['of HTML', '<html>'],
    ['of a JSON string', '"no"'],
    ['with an error that is a string', { error: 'no' }],
    ['with odd types in its error', { error: { message: 5, param: {}, code: 400 } }],
    ['of a megabyte', { error: { message: 'x'.repeat(1_000_000) } }],
  ])('an upstream’s 400 %s is still a 400 with a short message', async (_name, body) => {
    for (const asked of await expectFailures(status(400, body), 400, 'upstream_rejected')) {
      expect(asked.error?.message).toMatch(/.{10,}/)
      expect(asked.body.length).toBeLessThan(2_000)
    }
  })

  test('a request whose upstream sends no byte in time is a 504', async () => {
    await expectFailures(() => {}, 504, 'upstream_timeout', { model: 'hasty-model' })
  })

  test('a request whose upstream accepts it, but says no word in time, is a 504, and paid', async () => {
    const thinking: Reply = async (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      while (!response.destroyed) {
        response.write(': still thinking\n\n')
        await sleep(20)
      }
    }
    await expectFailures(thinking, 504, 'upstream_timeout', { model: 'hasty-model' }, true)
  })

  test('an upstream’s 500 whose body never ends is a 502 that does not wait for the rest', async () => {
    const endless: Reply = (response) => void response.writeHead(500).write('{')
    await expectFailures(endless, 502, 'upstream_error', { model: 'hasty-model' })
  })

  function shortOf(response: Parameters<Reply>[0], text: string): void {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 1_000 })
    response.write(text, () => response.destroy())
  }

  function refusal(message: string) {
    return { error: { message, type: 'x', param: null, code: null } }
  }
})

describe('failures in the middle of an answer', () => {
  const begun = chunk({ role: 'assistant', content: 'Once upon a time' })
  /** Says the beginning, lets it arrive, and then does this. */
  const beginThen =
    (then: Reply): Reply =>
    async (response, request) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      await new Promise<void>((resolve) => response.write(begun, () => resolve()))
      await then(response, request)
    }
  const broken =
    (text: string): Reply =>
    (response) =>
      void response.end(text)
  const WAYS: [string, Reply, string?][] = [
    ['the connection breaks', (response) => void response.destroy()],
    ['the connection is reset', (response) => void response.socket?.resetAndDestroy()],
    ['the upstream ends without a finish reason', broken('')],
    ['the HTTP framing breaks', (response) => void response.socket?.write('nonsense\r\n')],
    ['an error event comes', broken(event({ error: { message: 'overloaded' } }))],
    ['an event is not JSON', broken('data: {"choi\n\n')],
    ['an event is cut short', broken('data: {"choices":[{"delta":{"con')],
    ['the upstream falls silent', () => {}, 'hasty-model'],
  ]

  test.each(WAYS)(
    'a stream ends in an error frame, and a JSON answer is a 502 or 504, if midway %s',
    async (_, then, model = 'test-model') => {
      const [status, code] = model === 'hasty-model' ? [504, 'upstream_timeout'] : [502, 'upstream_error']
      for (const asked of await bench.askAll(beginThen(then), { model })) {
        if (asked.status === 200) await bench.expectCut(asked, 'Once upon a time', code)
        else await bench.expectFailed(asked, status, code, true)
        expect(asked.body.includes('Once upon')).toBe(asked.isStream)
      }
      await bench.expectNextIsFine()
    },
  )

  test('a stream that breaks after its usage was reported is billed by that report', async () => {
    const then: Reply = (response) => void response.write(usageChunk(USAGE), () => response.destroy())
    const asked = await bench.ask(beginThen(then), { stream: true })
    expect([asked.text, asked.done, asked.error?.code]).toEqual(['Once upon a time', false, 'upstream_error'])
    const row = await expectBooksClosed(bench.gateway, asked.key.id)
    expect(row).toMatchObject({ usageSource: 'upstream', cost: 20_000n })
  })
})
