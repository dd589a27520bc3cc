import { once } from 'node:events'
import { createServer, type Http2Server, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { afterAll } from '@jest/globals'
import { requireCatalog } from '../../../layers/catalog/parse-catalog.ts'
import { openGateway, type TestGateway, type TestOptions } from '../../support/gateway.ts'

export const MODEL_ID = 'anthropic.claude-3-haiku-20240307-v1:0'

type ConverseRequest = { readonly path: string; readonly auth: string; readonly body: Record<string, unknown> }
export type Reply = (stream: ServerHttp2Stream, request: ConverseRequest) => void | Promise<void>

export type BedrockUpstream = AsyncDisposable & {
  readonly url: string
  readonly requests: ConverseRequest[]
  reply: Reply
}

/** A real HTTP/2 server on loopback that speaks the REST protocol of Bedrock's runtime. */
export async function startBedrock(): Promise<BedrockUpstream> {
  const requests: ConverseRequest[] = []
  const sessions = new Set<Http2Session>()
  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => {})
  })
  server.on('stream', async (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {})
    const request = {
      path: `${headers[':method']} ${headers[':path']}`,
      auth: String(headers.authorization),
      body: (await json(stream)) as Record<string, unknown>,
    }
    requests.push(request)
    await upstream.reply(stream, request)
  })
  const port = await listenAsBefore(server)
  const upstream: BedrockUpstream = {
    url: `http://127.0.0.1:${port}`,
    requests,
    reply: say('Hello'),
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return upstream
}

const LAST_PORT = Symbol.for('waybill.test.bedrock-port')

/** On the port of the file before, if it is free: the SDK's clients live as long as the process, and keep their address. */
async function listenAsBefore(server: Http2Server): Promise<number> {
  const listen = (port: number) => once(server.listen(port, '127.0.0.1'), 'listening')
  await listen(Reflect.get(globalThis, LAST_PORT) ?? 0).catch(() => listen(0))
  const { port } = server.address() as AddressInfo
  Reflect.set(globalThis, LAST_PORT, port)
  return port
}

/** The environment of a Lambda function for the SDK, with the upstream in place of AWS. */
export function pointSdkAt(url: string): void {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'not-a-secret',
    AWS_SESSION_TOKEN: 'not-a-token',
    AWS_EC2_METADATA_DISABLED: 'true',
  })
}

/** Everything that a test file opens is closed when the file is done. */
const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

type Route = { model?: string; provider?: string; also?: object[]; timeouts?: object }
type Options = TestOptions & { upstreamStream?: boolean }
type Models = Readonly<Record<string, Route>>

/** A gateway with these models at Bedrock, whose answers are streamed unless told otherwise, at 1, 2 and 0.5 (cached) credits per million tokens. */
export async function openBedrock(models: Models = {}, { upstreamStream = true, ...options }: Options = {}) {
  const upstream = await startBedrock()
  pointSdkAt(upstream.url)
  const catalog = requireCatalog({
    providers: {
      bedrock: { type: 'bedrock', region: 'us-east-1', upstreamStream },
      elsewhere: { type: 'bedrock', region: 'eu-west-3', upstreamStream },
      abroad: { type: 'bedrock', region: 'ap-south-1', upstreamStream },
      nowhere: { type: 'openai', baseUrl: 'http://127.0.0.1:9/v1' },
    },
    models: Object.entries<Route>({ 'test-model': {}, ...models }).map(
      ([id, { model = MODEL_ID, provider = 'bedrock', also = [], timeouts = {} }]) => ({
        id,
        contextLength: 200_000,
        maxOutputTokens: 1000,
        price: { input: '1', output: '2', cachedInput: '0.5' },
        routes: [{ provider, model, ...timeouts }, ...also],
      }),
    ),
  })
  const gateway: TestGateway = await openGateway(catalog, options)
  opened.use(upstream)
  opened.use(gateway)
  return { upstream, gateway }
}

/** One message of the event stream: prelude, its checksum, headers, payload, checksum of all before. */
export function frame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const bytes = Buffer.from(value)
      const size = Buffer.alloc(2)
      size.writeUInt16BE(bytes.length)
      return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(7), size, bytes])
    }),
  )
  const body = Buffer.from(payload)
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + head.length + body.length)
  prelude.writeUInt32BE(head.length, 4)
  const most = Buffer.concat([prelude, checksum(prelude), head, body])
  return Buffer.concat([most, checksum(most)])
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}

export function event(type: string, payload: object): Buffer {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return frame(headers, JSON.stringify({ ...payload, p: 'abcdefgh' }))
}

export function exception(type: string, message: string): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }
  return frame(headers, JSON.stringify({ message }))
}

export const START = event('messageStart', { role: 'assistant' })
export const text = (content: string, block = 0) =>
  event('contentBlockDelta', { contentBlockIndex: block, delta: { text: content } })
export const thought = (reasoningContent: object) =>
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent } })
export const endBlock = (block = 0) => event('contentBlockStop', { contentBlockIndex: block })
export const stop = (stopReason: string) => event('messageStop', { stopReason })
export const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
export const metadata = (usage: object = USAGE) => event('metadata', { usage, metrics: { latencyMs: 7 } })

export const callTool = (block: number, toolUseId: string, name: string, ...pieces: string[]) => [
  event('contentBlockStart', { contentBlockIndex: block, start: { toolUse: { toolUseId, name } } }),
  ...pieces.map((input) => event('contentBlockDelta', { contentBlockIndex: block, delta: { toolUse: { input } } })),
  endBlock(block),
]

export function begin(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'r-1' })
}

/** An answer of these events, in one piece if it was asked for so. */
export function frames(...all: readonly Buffer[]): Reply {
  return (stream, { path }) => {
    if (path.endsWith('/converse')) return inOnePiece(stream, all)
    begin(stream)
    stream.end(Buffer.concat(all))
  }
}

type Whole = { content: Record<string, unknown>[]; stopReason?: unknown; usage?: unknown }

/** The answer of Converse to which these events of ConverseStream belong. */
function inOnePiece(stream: ServerHttp2Stream, all: readonly Buffer[]): void {
  const whole: Whole = { content: [] }
  for (const message of all) gather(whole, message)
  stream.respond({ ':status': 200, 'content-type': 'application/json', 'x-amzn-requestid': 'r-1' })
  const { content, ...rest } = whole
  stream.end(
    JSON.stringify({ output: { message: { role: 'assistant', content } }, metrics: { latencyMs: 7 }, ...rest }),
  )
}

type Payload = {
  contentBlockIndex?: number
  start?: { toolUse?: object }
  delta?: { text?: string; reasoningContent?: { text?: string }; toolUse?: { input: string } }
  stopReason?: string
  usage?: object
}

function gather(whole: Whole, message: Buffer): void {
  const headLength = message.readUInt32BE(4)
  const payload = JSON.parse(message.subarray(12 + headLength, -4).toString()) as Payload
  const { contentBlockIndex: at = 0, start, delta, stopReason, usage } = payload
  if (stopReason) whole.stopReason = stopReason
  if (usage) whole.usage = usage
  if (start?.toolUse) whole.content[at] = { toolUse: { ...start.toolUse, input: '' } }
  if (delta?.text) whole.content[at] = { text: `${whole.content[at]?.text ?? ''}${delta.text}` }
  if (delta?.reasoningContent) whole.content[at] = { reasoningContent: { reasoningText: delta.reasoningContent } }
  const call = whole.content[at]?.toolUse as { input: unknown } | undefined
  if (delta?.toolUse && call) call.input += delta.toolUse.input
  const isEnd = at in whole.content && !start && !delta
  if (call && isEnd && typeof call.input === 'string') call.input = JSON.parse(call.input || '{}')
}

/** A complete answer. */
export function say(content: string, stopReason = 'end_turn', usage: object = USAGE): Reply {
  return frames(START, text(content), endBlock(), stop(stopReason), metadata(usage))
}

/** An exception in place of an answer, as AWS's REST services send it. */
export function refuse(status: number, type: string, message = 'Some words.'): Reply {
  return (stream) => {
    stream.respond({
      ':status': status,
      'content-type': 'application/json',
      'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
      'x-amzn-requestid': 'r-1',
    })
    stream.end(JSON.stringify({ message }))
  }
}

/** One reply for each request, in this order. */
export function inTurn(...replies: readonly Reply[]): Reply {
  const left = [...replies]
  return (stream, request) => left.shift()?.(stream, request)
}
