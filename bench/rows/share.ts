import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { stageOf } from '../../infra/stages.ts'
import { type Certificate, makeCertificate } from '../around/certificate.ts'
import { overTls } from '../around/over-tls.ts'
import { type ShareOfCore, takeShareOfCore } from '../around/share-of-core.ts'
import { installRuntimeClient } from '../lambda/install-runtime-client.ts'
import { type Runtime, startRuntimeProcess, type Timing } from '../lambda/runtime-process.ts'
import { type Findings, ROUNDS, type RowGroup } from '../row.ts'
import type { Stand } from '../stand.ts'
import { figureOf, medianOf } from '../statistics.ts'
import { bundleOf, lambdaEnvironment } from '../subjects/bundles.ts'
import { chatEvent } from '../subjects/http-event.ts'
import { prepareTables } from '../subjects/prepare-tables.ts'
import { withSpread } from '../words.ts'

const MODEL = 'hundred-chunks-later'
const WARMING_MODEL = 'one-chunk'
/** An instance has answered some by then, and V8 has compiled what it runs often. */
const WARM_UP = 300
const A_ROUND = 3
/** Another request of the same instance, after a pause in which its share of the core comes back. */
const PAUSE_MS = 50
const FREEZES = 5
/** Longer than connections are trusted and than the catalog is fresh. */
const FROZEN_MS = 31_000

/**
 * The time that chat adds in Lambda: the bundle and AWS's runtime client with the function's memory and its share of a
 * core, over TLS. A frozen instance is a stopped process.
 */
export const share: RowGroup = {
  name: 'share',
  async measure(stand) {
    const { chatMemoryMb: memoryMb } = stageOf('prod')
    const client = await installRuntimeClient()
    using certificate = makeCertificate()
    const limited = takeShareOfCore(memoryMb)
    const missing = [client, limited].flatMap((it) => ('missing' in it ? it.missing : []))
    if (!certificate) missing.push('there is no openssl')
    if ('missing' in client || 'missing' in limited || !certificate) {
      stand.say(`share is left out: ${missing.join('; ')}`)
      return { rows: [] }
    }
    return await measureShare(stand, { client: client.file, limited, certificate, memoryMb })
  },
}

type Means = {
  readonly client: string
  readonly limited: ShareOfCore
  readonly certificate: Certificate
  readonly memoryMb: number
}
type Timings = Record<'waybill' | 'bareProxy' | 'upstream', Timing[]>

async function measureShare(stand: Stand, means: Means): Promise<Findings> {
  const { limited, certificate, memoryMb } = means
  using _ = limited
  await using stack = new AsyncDisposableStack()
  const upstream = stack.use(await overTls(await stand.upstreamUrl(), certificate)).url
  const plain = await stand.dynamodb()
  const dynamodb = stack.use(await overTls(plain, certificate)).url
  const { secret } = await prepareTables(plain, upstream)
  const start = async (folder: string) => {
    const env = { ...lambdaEnvironment(dynamodb, memoryMb), NODE_EXTRA_CA_CERTS: certificate.file }
    const cores = {
      ...stand.cores,
      onOwnCore: (command: readonly string[]) => limited.within(stand.cores.onOwnCore(command)),
    }
    return stack.use(
      await startRuntimeProcess({
        cores,
        client: means.client,
        folder,
        memoryMb,
        env: { ...env, UPSTREAM_URL: upstream },
      }),
    )
  }
  const functions = {
    waybill: await start(stack.use(bundleOf('chat')).folder),
    bareProxy: await start(bareFunction(stack)),
  }
  const agent = new Agent({ keepAlive: true, ca: certificate.cert })
  stack.defer(() => agent.destroy())
  const event = withGzip(chatEvent(secret, MODEL))
  const short = withGzip(chatEvent(secret, WARMING_MODEL))
  const ask = {
    waybill: () => functions.waybill.answer(event),
    bareProxy: () => functions.bareProxy.answer(event),
    upstream: () => askUpstream(agent, upstream),
  }
  stand.say('share: warming up')
  for (let i = 0; i < WARM_UP; i++) await Promise.all(Object.values(functions).map((runtime) => runtime.answer(short)))

  const warm: Timings[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    stand.say(`share: round ${round} of ${ROUNDS}`)
    warm.push(await inTurns(ask, A_ROUND))
  }
  const frozen: Timings[] = []
  for (let round = 1; round <= FREEZES; round++) {
    stand.say(`share: freeze ${round} of ${FREEZES}`)
    await freeze(Object.values(functions))
    frozen.push(await inTurns(ask, 1))
  }
  const shared = `${memoryMb} MB with ${limited.share.toFixed(2)} of a core`
  return {
    rows: [
      rowOf(`first token in ${shared}, warm: added to the upstream’s own`, warm, 'firstMs'),
      rowOf('the same, first after a freeze', frozen, 'firstMs'),
      rowOf('whole answer of 100 chunks in half a second, in the same share, warm: added', warm, 'wholeMs'),
      rowOf('the same, first after a freeze', frozen, 'wholeMs'),
    ],
  }
}

function bareFunction(stack: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-bare-'))
  stack.defer(() => rmSync(folder, { recursive: true }))
  copyFileSync(fileURLToPath(new URL('../subjects/bare-function.cjs', import.meta.url)), join(folder, 'index.cjs'))
  return folder
}

/** As nearly every client asks. */
function withGzip(event: ReturnType<typeof chatEvent>) {
  return { ...event, headers: { ...event.headers, 'accept-encoding': 'gzip, deflate' } }
}

type Ask = Record<keyof Timings, () => Promise<Timing>>

async function inTurns(ask: Ask, count: number): Promise<Timings> {
  const found: Timings = { waybill: [], bareProxy: [], upstream: [] }
  for (let i = 0; i < count; i++) {
    for (const name of Object.keys(found) as (keyof Timings)[]) {
      found[name].push(await ask[name]())
      await sleep(PAUSE_MS)
    }
  }
  return found
}

async function freeze(runtimes: readonly Runtime[]): Promise<void> {
  for (const { pid } of runtimes) process.kill(pid, 'SIGSTOP')
  await sleep(FROZEN_MS)
  for (const { pid } of runtimes) process.kill(pid, 'SIGCONT')
}

function askUpstream(agent: Agent, url: string): Promise<Timing> {
  const body = JSON.stringify({ model: MODEL, stream: true, messages: [{ role: 'user', content: 'Hello' }] })
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
  const startMs = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/chat/completions`, { agent, method: 'POST', headers })
    sent.once('error', reject)
    sent.once('response', (response) => {
      let firstMs = Number.NaN
      response.once('data', () => {
        firstMs = performance.now() - startMs
      })
      response.resume().once('end', () => resolve({ firstMs, wholeMs: performance.now() - startMs }))
    })
    sent.end(body)
  })
}

/** Each round's median, less the upstream's own in the same round. */
function rowOf(what: string, rounds: readonly Timings[], figure: keyof Timing) {
  const median = (timings: readonly Timing[]) => medianOf(timings.map((timing) => timing[figure]))
  const added = (name: 'waybill' | 'bareProxy') =>
    `+${withSpread(figureOf(rounds.map((round) => median(round[name]) - median(round.upstream))), 'ms')}`
  return { what, waybill: `**${added('waybill')}**`, bareProxy: added('bareProxy') }
}
