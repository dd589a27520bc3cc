import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import { startDynamoDb } from '../../local/dynamodb-local.ts'
import { openAccount } from '../deployed/support/account.ts'
import { httpEvent } from '../deployed/support/http-event.ts'
import { lambdaEnvironment } from '../deployed/support/lambda-environment.ts'
import { type DeployedFunction, NODE } from '../deployed/support/synthesize.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { say, startUpstream } from '../support/upstream.ts'

// What a cold start costs, beside a function that does nothing. Every figure is the median of fresh processes, which
// take turns, so that whatever else the machine does falls on all of them alike.

const RUNS = 15
const HOST = fileURLToPath(new URL('init-host.cjs', import.meta.url))

type Subject = { readonly name: string; readonly deployed: DeployedFunction; readonly event: unknown }
type Sample = { readonly loadMs: number; readonly firstMs: number; readonly wholeMs: number }

await using stack = new AsyncDisposableStack()
const { endpoint } = await startDynamoDb(null, stack)
process.env.TEST_DYNAMODB = endpoint
const upstream = stack.use(await startUpstream(say('Hello')))
const account = stack.use(await openAccount(catalogFor(upstream.url)))
const { secret } = await account.issue({ rpm: 60_000, dailyLimit: 1_000_000 })

const subjects = subjectsOf(account.functions)
const samples = new Map<Subject, Sample[]>(subjects.map((subject) => [subject, []]))
// The first round pays for the database's own warming up, and is not counted.
for (let run = 0; run <= RUNS; run++) {
  for (const subject of subjects) {
    const sample = await measure(subject)
    if (run > 0) samples.get(subject)?.push(sample)
  }
}
print()

function subjectsOf({
  chat,
  models,
  introspect,
  usage,
  fallback,
  sweep,
  tokenizer,
}: typeof account.functions): Subject[] {
  const get = (path: string) => httpEvent({ path, secret })
  const body = { ...HELLO, stream: true }
  return [
    { name: 'hello-world', deployed: { ...fallback, folder: bundleHelloWorld() }, event: get('/') },
    { name: 'chat', deployed: chat, event: httpEvent({ method: 'POST', path: '/v1/chat/completions', secret, body }) },
    { name: 'models', deployed: models, event: get('/v1/models') },
    { name: 'introspect', deployed: introspect, event: get('/v1/key/introspect') },
    { name: 'usage', deployed: usage, event: get('/v1/usage/req_01ARZ3NDEKTSV4RRFFQ69G5FAV') },
    { name: 'fallback', deployed: fallback, event: get('/v1/nope') },
    { name: 'sweep', deployed: sweep, event: {} },
    { name: 'tokenizer', deployed: tokenizer, event: { texts: ['Hello'] } },
  ]
}

/** With the options of infra/bundle.ts. */
function bundleHelloWorld(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-hello-'))
  stack.defer(() => rmSync(folder, { recursive: true }))
  const contents = `export const handler = async () => ({ statusCode: 200, headers: {}, body: 'Hello' })`
  buildSync({
    stdin: { contents },
    bundle: true,
    minify: true,
    sourcemap: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    outfile: join(folder, 'index.js'),
  })
  return folder
}

async function measure({ name, deployed, event }: Subject): Promise<Sample> {
  const env = lambdaEnvironment(deployed, endpoint)
  const startMs = performance.now()
  const child = fork(HOST, {
    execPath: NODE,
    execArgv: [],
    cwd: deployed.folder,
    env,
    stdio: ['ignore', 'ignore', 2, 'ipc'],
  })
  const ended = once(child, 'exit')
  await once(child, 'message')
  child.send(event as object)
  const [sample] = (await once(child, 'message')) as [Sample & { statusCode?: number }]
  const wholeMs = performance.now() - startMs
  if ((sample.statusCode ?? 200) >= 500) throw new Error(`${name} answered ${sample.statusCode}`)
  await ended
  return { ...sample, wholeMs }
}

function print(): void {
  const figures = subjects.map((subject) => {
    const code = readFileSync(join(subject.deployed.folder, 'index.js'))
    const of = (name: keyof Sample) => median((samples.get(subject) ?? []).map((sample) => sample[name]))
    return [of('loadMs'), of('firstMs'), of('wholeMs'), code.length / 1024, gzipSync(code).length / 1024]
  })
  const heads = ['bundle', 'load ms', 'first request ms', 'process to answer ms', 'KiB', 'gzip KiB']
  const rows = subjects.map(({ name }, i) => [
    name,
    ...(figures[i] ?? []).map((figure, j) => `${figure.toFixed(1)} (${times(figure, figures[0]?.[j])})`),
  ])
  const widths = heads.map((head, j) => Math.max(head.length, ...rows.map((row) => row[j]?.length ?? 0)))
  const line = (cells: string[]) => `| ${cells.map((cell, j) => cell.padEnd(widths[j] ?? 0)).join(' | ')} |`
  console.log(
    `Medians of ${RUNS} fresh processes each, Node ${process.versions.node}; in brackets, times hello-world.\n`,
  )
  for (const cells of [heads, widths.map((width) => '-'.repeat(width)), ...rows]) console.log(line(cells))
}

function times(figure: number, base = Number.NaN): string {
  const ratio = figure / base
  return `${ratio < 100 ? ratio.toFixed(1) : Math.round(ratio)}×`
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
