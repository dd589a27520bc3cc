import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpEvent } from '../../test/deployed/support/http-event.ts'
import { installRuntimeClient } from '../../test/deployed/support/install-runtime-client.ts'
import { heapLimits, type RuntimeProcess, startRuntime } from '../../test/deployed/support/runtime-process.ts'
import { medianOf, type Row, withSpread } from '../figures.ts'
import { ask, type Timing } from '../load.ts'
import type { Stand } from '../stand.ts'
import { makeCertificate, overTls } from '../tls.ts'
import type { Model } from '../upstream.ts'
import { bundleOf, deployedAs, folderWith, prepareTables } from '../waybill.ts'
import { ROUNDS } from './cpu.ts'

const MODEL = 'hundred-chunks-later'
/** An instance has answered some by then, and V8 has compiled what it runs often. */
const WARM_UP = 300
const A_ROUND = 3
/** Another request of the same instance, after a pause in which its share of the core comes back. */
const PAUSE_MS = 50
const FREEZES = 5
/** Longer than connections are trusted and than the catalog is fresh. */
const FROZEN_MS = 31_000
/** More than the head of a compressed answer, less than its first words. */
const FIRST_BYTES = 24
const BARE_FUNCTION = new URL('../subjects/bare-function.cjs', import.meta.url)

type Asked = 'waybill' | 'bareProxy' | 'upstream'
type Timings = Record<Asked, Timing[]>

/** The time that chat adds in Lambda, with its memory and its share of a core. A frozen instance is a stopped process. */
export async function share(stand: Stand): Promise<{ rows: Row[] }> {
  await using stack = new AsyncDisposableStack()
  const { memoryMb } = deployedAs('')
  const client = await installRuntimeClient()
  const certificate = makeCertificate()
  const groups = newGroups(memoryMb, stack)
  if ('missing' in client || 'missing' in groups || !certificate) {
    const missing = [client, groups].flatMap((it) => ('missing' in it ? it.missing : []))
    stand.say(`share is left out: ${[...missing, ...(certificate ? [] : ['there is no openssl'])].join('; ')}`)
    return { rows: [] }
  }
  stack.use(certificate)
  const upstream = await overTls(await stand.upstreamUrl(), certificate, stack)
  const dynamodb = await overTls(await stand.dynamodb(), certificate, stack)
  const { secret } = await prepareTables(await stand.dynamodb(), upstream)
  const env = {
    NODE_EXTRA_CA_CERTS: certificate.file,
    NODE_OPTIONS: heapLimits(memoryMb),
    PATH: process.env.PATH ?? '',
    UPSTREAM_URL: upstream,
  }
  const start = async (folder: string, group: string) => {
    const within = (command: readonly string[]) => [
      ...['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', group],
      ...stand.onOwnCore(command),
    ]
    return stack.use(await startRuntime(client.file, deployedAs(folder), dynamodb, { env, within }))
  }
  const waybill = await start(bundleOf('chat', stack), groups.waybill)
  const bareProxy = await start(folderWith(readFileSync(BARE_FUNCTION, 'utf8'), stack), groups.bareProxy)
  const functions = [waybill, bareProxy]
  const agent = new Agent({ keepAlive: true, ca: certificate.cert })
  stack.defer(() => agent.destroy())
  const asks: Record<Asked, () => Promise<Timing>> = {
    waybill: () => timed(waybill, secret, MODEL),
    bareProxy: () => timed(bareProxy, secret, MODEL),
    upstream: () => ask({ url: upstream, headers: [{}], agent }, { model: MODEL, stream: true }),
  }
  stand.say('share: warming up')
  for (let i = 0; i < WARM_UP; i++) await Promise.all(functions.map((runtime) => timed(runtime, secret, 'one-chunk')))

  const warm: Timings[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    stand.say(`share: round ${round} of ${ROUNDS}`)
    warm.push(await inTurns(asks, A_ROUND))
  }
  const frozen: Timings[] = []
  for (let round = 1; round <= FREEZES; round++) {
    stand.say(`share: freeze ${round} of ${FREEZES}`)
    for (const { child } of functions) child.kill('SIGSTOP')
    await sleep(FROZEN_MS)
    for (const { child } of functions) child.kill('SIGCONT')
    frozen.push(await inTurns(asks, 1))
  }
  const part = `${memoryMb} MB with ${(memoryMb / MB_OF_A_CORE).toFixed(2)} of a core`
  return {
    rows: [
      rowOf(`first token in ${part}, warm: added to the upstream’s own`, warm, 'firstMs'),
      rowOf('the same, first after a freeze', frozen, 'firstMs'),
      rowOf('whole answer of 100 chunks in half a second, in the same share, warm: added', warm, 'wholeMs'),
      rowOf('the same, first after a freeze', frozen, 'wholeMs'),
    ],
  }
}

async function timed(runtime: RuntimeProcess, secret: string, model: Model): Promise<Timing> {
  const body = { model, stream: true, messages: [{ role: 'user', content: 'Hello' }] }
  // Nearly every client asks so.
  const headers = { 'accept-encoding': 'gzip, deflate' }
  const startMs = performance.now()
  const event = httpEvent({ method: 'POST', path: '/v1/chat/completions', secret, headers, body })
  const answer = await runtime.invoke(event)
  await answer.bodyBytes(FIRST_BYTES)
  const firstMs = performance.now() - startMs
  const { statusCode } = await answer.whole()
  if (statusCode !== 200) throw new Error(`The function answered ${statusCode}: ${answer.body}`)
  return { firstMs, wholeMs: performance.now() - startMs }
}

async function inTurns(asks: Record<Asked, () => Promise<Timing>>, count: number): Promise<Timings> {
  const found: Timings = { waybill: [], bareProxy: [], upstream: [] }
  for (let i = 0; i < count; i++) {
    for (const name of Object.keys(found) as Asked[]) {
      found[name].push(await asks[name]())
      await sleep(PAUSE_MS)
    }
  }
  return found
}

/** Each round's median, less the upstream's own in the same round. */
function rowOf(what: string, rounds: readonly Timings[], figure: keyof Timing): Row {
  const median = (timings: readonly Timing[]) => medianOf(timings.map((timing) => timing[figure]))
  const added = (name: Asked) => rounds.map((round) => median(round[name]) - median(round.upstream))
  const [waybill, bareProxy] = [withSpread(added('waybill'), 'ms'), withSpread(added('bareProxy'), 'ms')]
  return { what, waybill: `**+${waybill}**`, bareProxy: `+${bareProxy}` }
}

/** Lambda gives a whole core for this memory: Lambda Developer Guide, "Configure Lambda function memory". */
const MB_OF_A_CORE = 1_769
/** Lambda's share was seen to come in slices of 20 ms, of which a function has its part at once and then waits. */
const PERIOD_US = 20_000
const VERSION_1 = '/sys/fs/cgroup/cpu'

/** A control group for each function, with the share of a core that it has by its memory. */
function newGroups(memoryMb: number, stack: AsyncDisposableStack) {
  const isVersion1 = existsSync(VERSION_1)
  const quotaUs = Math.round((memoryMb / MB_OF_A_CORE) * PERIOD_US)
  const limits = isVersion1
    ? { 'cpu.cfs_period_us': PERIOD_US, 'cpu.cfs_quota_us': quotaUs }
    : { 'cpu.max': `${quotaUs} ${PERIOD_US}` }
  const newGroup = (name: string) => {
    const group = join(isVersion1 ? VERSION_1 : '/sys/fs/cgroup', `waybill-bench-${process.pid}-${name}`)
    mkdirSync(group)
    stack.defer(() => rmdirSync(group))
    for (const [file, value] of Object.entries(limits)) writeFileSync(join(group, file), String(value))
    return group
  }
  try {
    return { waybill: newGroup('waybill'), bareProxy: newGroup('bare-proxy') }
  } catch (error) {
    return { missing: `no control group can be made here: ${(error as Error).message}` }
  }
}
