import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { someOf } from '../support/some-of.ts'
import { chunk, DONE, type Reply, say, USAGE, usageChunk } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { openBench } from './support/bench.ts'
import { expectBooksClosed, expectError } from './support/exchange.ts'
import { waysInTurn } from './support/ways.ts'
import { writeOn } from './support/write-apart.ts'

const bench = await openBench()

describe('upstreams without bounds', () => {
  const collect = exposeGc()
  /** For every flood that has stopped: whether it got to its end. */
  const ended: boolean[] = []
  beforeEach(() => {
    ended.length = 0
  })

  /** Sends these, at our pace, until we hang up. */
  const flood =
    (pieces: () => Iterable<string>, head: object = events, code = 200): Reply =>
    async (response) => {
      response.once('close', () => ended.push(response.writableFinished))
      response.writeHead(code, { ...head })
      await writeOn(response, pieces())
      response.end()
    }
  async function expectHungUp(floods: number): Promise<void> {
    await until(() => ended.length === floods)
    expect(ended).toEqual(Array(floods).fill(false))
  }

  function* megabytes(count: number, before = '', after = '', piece = 'a'.repeat(64 * 1024)) {
    yield before
    for (let i = 0; i < count * 16; i++) yield piece
    yield after
  }
  function* forever(piece: string) {
    yield chunk({ content: 'Hi' })
    for (;;) yield piece
  }

  /** Garbage that a collection would take away is not growth. */
  async function growthDuring<T>(act: () => Promise<T>): Promise<{ result: T; megabytes: number }> {
    collect()
    const before = process.memoryUsage.rss()
    let peak = before
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }, 5)
    const result = await act().finally(() => clearInterval(timer))
    return { result, megabytes: (peak - before) / 2 ** 20 }
  }

  const open = 'data: {"choices":[{"index":0,"delta":{"content":"'
  const close = '"}}]}\n\n'
  const events = { 'Content-Type': 'text/event-stream' }
  const json = { 'Content-Type': 'application/json' }
  const line = `data: ${'a'.repeat(64 * 1024 - 7)}\n`
  const HUGE: [string, () => Iterable<string>, object][] = [
    ['event of 12 MB', () => megabytes(12, open, close), events],
    ['event of 12 MB in many lines', () => megabytes(12, '', '\n', line), events],
    ['event of 12 MB without an end', () => megabytes(12, open), events],
    ['JSON answer of 24 MB', () => megabytes(24, '{"choices":[{"index":0,"message":{"content":"', '"}}]}'), json],
    ['page of HTML of 24 MB', () => megabytes(24, '<html>'), { 'Content-Type': 'text/html' }],
  ]

  test.each(someOf(HUGE, 2))('an upstream’s %s is a 502 in bounded memory, and paid', async (_, pieces, head) => {
    for (const { contract, stream } of waysInTurn()) {
      const { result, megabytes } = await growthDuring(() => bench.ask(flood(pieces, head), { stream }, contract))
      await bench.expectFailed(result, 502, 'upstream_error', true)
      expect(megabytes).toBeLessThan(120)
    }
    await bench.expectNextIsFine()
  })

  test.each(someOf(HUGE.slice(0, 3), 2))(
    'an upstream’s %s after the first words ends the stream with an error frame, in bounded memory',
    async (_, pieces) => {
      // The estimate's tokenizer is large: load it before looking at memory.
      await bench.ask(say('Hi', null))
      function* afterHi() {
        yield chunk({ content: 'Hi' })
        yield* pieces()
      }
      for (const { contract } of waysInTurn().filter(({ contract, stream }) => stream || contract !== 'chat')) {
        const { result, megabytes } = await growthDuring(() => bench.ask(flood(afterHi), { stream: true }, contract))
        await bench.expectCut(result, 'Hi')
        expect(megabytes).toBeLessThan(120)
      }
      await bench.expectNextIsFine()
    },
  )

  test.each([
    [500, 502, 'upstream_error'],
    [400, 400, 'upstream_rejected'],
  ])('an upstream’s error %i of 24 MB is not read to its end', async (code, told, errorCode) => {
    const reply = flood(() => megabytes(24, '{"error":{"message":"'), json, code)
    const all = await bench.askAll(reply)
    for (const asked of all) await bench.expectFailed(asked, told, errorCode)
    await expectHungUp(all.length)
    await bench.expectNextIsFine()
  })

  const SILENT: [string, string][] = [
    ['empty words', chunk({ content: '' })],
    ['comments', `: ${'y'.repeat(4_000)}\n\n`],
    ['empty lines', '\n'.repeat(4_000)],
    ['new choices', chunk({ content: 'x' }).replace('"index":0', '"index":9')],
  ]

  test.each(SILENT)(
    'endless %s from an upstream end in an error frame and cost at most the hold, or are a 502 that is paid',
    async (_, piece) => {
      const reply = flood(() => forever(piece))
      const all = await bench.askAll(reply, { max_tokens: 5 })
      for (const asked of all) {
        if (!asked.isStream) {
          await bench.expectFailed(asked, 502, 'upstream_error', true)
          continue
        }
        expect([asked.status, asked.done]).toEqual([200, false])
        expectError(asked, 502, 'upstream_error')
        expect(asked.text).toMatch(/^Hi/)
        const row = await expectBooksClosed(bench.gateway, asked.key.id)
        expect(row.completionTokens).toBeLessThanOrEqual(5)
        expect(row.cost).toBeGreaterThan(0n)
      }
      await expectHungUp(all.length)
      await bench.expectNextIsFine()
    },
  )

  // None of these carries text, so only their number and their bytes give them away.
  test.each<[string, string]>([
    ['usage reports', usageChunk({ ...USAGE, note: 'x'.repeat(1_000) })],
    ['other fields', chunk({ audio: { data: 'x'.repeat(500_000) } })],
  ])('an upstream’s 48 MB of %s end the stream with an error frame', async (_, piece) => {
    function* absurd() {
      yield chunk({ content: 'Hi' })
      for (let bytes = 0; bytes < 48 * 2 ** 20; bytes += piece.length) yield piece
      yield chunk({}, 'stop') + DONE
    }
    const asked = await bench.ask(flood(absurd), { stream: true, max_tokens: 5 })
    expect([asked.text, asked.done, asked.error?.code]).toEqual(['Hi', false, 'upstream_error'])
    await expectHungUp(1)
  })

  function exposeGc(): () => void {
    setFlagsFromString('--expose-gc')
    return runInNewContext('gc') as () => void
  }
})
