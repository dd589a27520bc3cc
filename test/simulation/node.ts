import { AsyncLocalStorage } from 'node:async_hooks'
import { Writable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { createApi } from '../../functions/api/create.ts'
import { createChat } from '../../functions/chat/create.ts'
import { createClose } from '../../functions/close/create.ts'
import { type Instance, openInstance } from '../../functions/instance.ts'
import { createSweep } from '../../functions/sweep/create.ts'
import { BRAND, FUNCTION_TIMEOUT_SECONDS } from '../../layers/gateway/names.ts'
import type { Log } from '../../layers/gateway/platform/log/log.ts'
import type { NoticeBody } from '../../layers/gateway/wire/keys/notice-body.ts'
import type { Script, Step } from './history.ts'
import { type ProcessDeps, SimulatedProcess } from './process.ts'
import { questionOf } from './question.ts'
import { scriptedProvider, type Truth } from './scripted-upstream.ts'

export type Answer = { readonly status: number; readonly headers: Record<string, string>; readonly body: string }

export type NodeDeps = ProcessDeps & {
  /** Ends a node as a crash does. */
  readonly kill: (node: GatewayNode) => void
  /** A file of the export, as it arrives. */
  readonly putObject: (path: string, bytes: Uint8Array) => void
  readonly notice: (notice: NoticeBody) => void
}

type Context = { getRemainingTimeInMillis(): number }

/** So little that a day has several files, and a key several cursors. */
const PART_CHARS = 800

const SILENT: Log = {
  request() {},
  upstreamFailed() {},
  beyondCap() {},
  unpaid() {},
  lossReached() {},
  contextExceeded() {},
  problem() {},
  unsettled() {},
  invalidKey() {},
  swept() {},
  closed() {},
}
/** The call that asks an upstream: many are running at once. */
const currentTruth = new AsyncLocalStorage<Truth>()

Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: <T>(handler: T) => handler,
    HttpResponseStream: {
      from: (stream: AnswerStream, head: Pick<Answer, 'headers'> & { statusCode: number }) => stream.begin(head),
    },
  },
})

/** One instance of the gateway, as AWS runs several: the real functions, with a clock of its own. */
export class GatewayNode extends SimulatedProcess {
  skewMs = 0
  readonly #reporters = new Set<string>()
  readonly #chat: (event: unknown, stream: Writable, context: unknown) => Promise<void>
  readonly #api: (event: unknown, context: unknown) => Promise<{ statusCode: number; headers: object; body: string }>
  readonly #sweep: () => Promise<unknown>
  readonly #close: (event: undefined, context: Context) => Promise<unknown>

  constructor(name: string, deps: NodeDeps) {
    super(name, deps)
    const instance: Instance = openInstance({
      config: { keysTable: 'keys', usageTable: 'usage', answersTable: 'answers', ...BRAND },
      tables: this.tables,
      clock: () => deps.nowMs() + this.skewMs,
      random: (bytes) => deps.random.bytes(bytes),
      log: SILENT,
    })
    const openProvider = (_: unknown, id: string) => {
      const truth = currentTruth.getStore() as Truth
      const [ask, kill] = [(script: Script) => this.#ask(script), () => deps.kill(this)]
      const provider = scriptedProvider(id, { ask, truth, reporters: this.#reporters, kill })
      return deps.variant?.provider?.(provider) ?? provider
    }
    const countTokens = async (texts: readonly string[]) => {
      if (deps.random.chance(0.1)) throw new Error('The tokenizer is away.')
      return texts.map(({ length }) => Math.ceil(length / 4))
    }
    this.#chat = createChat(instance, { openProvider, countTokens }) as never
    this.#api = createApi(instance, countTokens) as never
    this.#sweep = createSweep(instance, async (notice) => deps.notice(notice))
    this.#close = createClose(instance, {
      putObject: (path, bytes) => this.#putObject(path, () => deps.putObject(path, bytes)),
      partChars: PART_CHARS,
      // Within the history's own time.
      compress: async (bytes) => gzipSync(bytes),
    })
  }

  /** `truth` is told what the upstreams that this call reaches know of it. */
  call(step: Extract<Step, { do: 'call' }>, secret: string, truth: Truth): Promise<Answer> {
    return currentTruth.run(truth, () => this.#call(step, secret))
  }

  async #call(step: Extract<Step, { do: 'call' }>, secret: string): Promise<Answer> {
    const event = eventOf(step, secret)
    const context = this.#newContext()
    if (step.endpoint === 'models') {
      const { statusCode, headers, body } = await this.#api(event, context)
      return { status: statusCode, headers: headers as Record<string, string>, body }
    }
    const stream = new AnswerStream()
    await this.#chat(event, stream, context)
    return stream.answer
  }

  sweep(): Promise<unknown> {
    return this.#sweep()
  }

  /** Its time is over after so many looks at it, if not before. */
  close(looks = Infinity): Promise<unknown> {
    const context = this.#newContext()
    let left = looks
    const getRemainingTimeInMillis = () => (left-- > 0 ? context.getRemainingTimeInMillis() : 0)
    return this.#close(undefined, { getRemainingTimeInMillis })
  }

  #newContext(): Context {
    const endsMs = this.deps.nowMs() + FUNCTION_TIMEOUT_SECONDS * 1000
    return { getRemainingTimeInMillis: () => Math.max(0, endsMs - this.deps.nowMs()) }
  }

  #putObject(path: string, work: () => void): Promise<never> {
    const label = () => `Put ${path}`
    return this.message({ label, kind: 'write', items: [], isSentOnce: false, work }) as Promise<never>
  }

  #ask(script: Script): Promise<never> {
    const label = () => `the upstream ${script}`
    return this.message({ label, kind: 'upstream', items: [], isSentOnce: true, work: () => {} }) as Promise<never>
  }
}

function eventOf(step: Extract<Step, { do: 'call' }>, secret: string) {
  const { endpoint, pin, retryOf } = step
  const { path, body } = endpoint === 'models' ? { path: '/v1/models', body: {} } : questionOf(step)
  return {
    rawPath: path,
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      ...(retryOf !== undefined && { 'idempotency-key': `retry-${retryOf}` }),
      ...(pin !== undefined && { 'x-svc-route': pin }),
    },
    requestContext: { http: { method: endpoint === 'models' ? 'GET' : 'POST', path, sourceIp: '192.0.2.1' } },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  }
}

class AnswerStream extends Writable {
  #status = 0
  #headers: Record<string, string> = {}
  #body = ''

  begin({ statusCode, headers }: Pick<Answer, 'headers'> & { statusCode: number }): this {
    this.#status = statusCode
    this.#headers = headers
    return this
  }

  get answer(): Answer {
    return { status: this.#status, headers: this.#headers, body: this.#body }
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#body += chunk.toString()
    done()
  }
}
