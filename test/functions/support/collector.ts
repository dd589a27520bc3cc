import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { openServer } from '../../support/stack.ts'

/** OTLP's mapping of protobuf to JSON: ids in hex, 64-bit integers as texts, no other field. */
const int64 = z.string().regex(/^-?\d{1,19}$/)
const nanos = z.string().regex(/^[1-9]\d{17,18}$/)
const id = (bytes: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${2 * bytes}}$`))
const plain = [
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: int64 }),
  z.strictObject({ doubleValue: z.number() }),
] as const
const value = z.union([...plain, z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.union(plain)) }) })])
const attributes = z.array(z.strictObject({ key: z.string().min(1), value })).refine((all) => {
  return new Set(all.map(({ key }) => key)).size === all.length
}, 'keys are unique')
const span = z
  .strictObject({
    traceId: id(16),
    spanId: id(8),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes,
    status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
  })
  .refine(({ startTimeUnixNano: from, endTimeUnixNano: to }) => BigInt(from) <= BigInt(to), 'it ends after it begins')
const request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(span).min(1) })),
    }),
  ),
})
export type Span = z.output<typeof span>

export type Mode = 'takes' | 'busy' | 'refuses' | 'cut' | 'cut after' | 'silent' | 'partial'

/** A collector that takes nothing but valid OTLP. Mistakes of the sender are kept for the test. */
export async function openCollector() {
  const collector = {
    url: '',
    mode: 'takes' as Mode,
    spans: [] as Span[],
    posts: 0,
    mistakes: [] as unknown[],
    largest: 0,
  }
  collector.url = await openServer((incoming, response) => void answer(incoming, response))
  return collector

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(incoming)
    const { mode } = collector
    collector.posts += 1
    collector.largest = Math.max(collector.largest, body.length)
    const { method, url, headers } = incoming
    if (`${method} ${url} ${headers['content-type']}` !== 'POST /v1/traces application/json') {
      collector.mistakes.push([method, url, headers['content-type']])
    }
    if (mode === 'silent') return
    if (mode === 'cut') return void incoming.socket.destroy()
    if (mode === 'busy' || mode === 'refuses') {
      return void response.writeHead(mode === 'busy' ? 503 : 400, { 'retry-after': '1' }).end('no secret of yours')
    }
    const read = request.safeParse(JSON.parse(body))
    if (!read.success) collector.mistakes.push(read.error.issues)
    const spans = read.data?.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)) ?? []
    collector.spans.push(...spans)
    if (mode === 'cut after') return void incoming.socket.destroy()
    const partialSuccess = mode === 'partial' ? { rejectedSpans: '1', errorMessage: 'too old' } : undefined
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ partialSuccess }))
  }
}
