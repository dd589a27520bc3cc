import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { httpEvent } from '../test/deployed/support/http-event.ts'
import { lambdaEnvironment } from '../test/deployed/support/lambda-environment.ts'
import { markdownTable, medianOf, number, times } from './figures.ts'
import { openStand } from './stand.ts'
import { bundleOf, deployedAs, folderWith, prepareTables } from './waybill.ts'

// The cost of a cold start, beside a function that does nothing. Every figure is the median of fresh processes, which
// take turns, so that the machine's other work falls on all of them alike.

const RUNS = 15
const HOST = fileURLToPath(new URL('subjects/lambda-host.cjs', import.meta.url))
const HELLO_WORLD = "exports.handler = async () => ({ statusCode: 200, headers: {}, body: 'Hello' })"

/** The times to load a function, to answer its first event, and from the start of the process to that answer. */
type ColdStart = { readonly loadMs: number; readonly firstMs: number; readonly wholeMs: number }

await using stand = openStand(console.error)
using bundles = new DisposableStack()
const endpoint = await stand.dynamodb()
const { secret } = await prepareTables(endpoint, await stand.upstreamUrl())
const chat = { model: 'one-chunk', stream: true, messages: [{ role: 'user', content: 'Hello' }] }
const chatEvent = httpEvent({ method: 'POST', path: '/v1/chat/completions', secret, body: chat })
const modelsEvent = httpEvent({ path: '/v1/models', secret })
const subjects = [
  { name: 'hello-world', folder: folderWith(HELLO_WORLD, bundles), event: modelsEvent },
  { name: 'chat', folder: bundleOf('chat', bundles), event: chatEvent },
  { name: 'api', folder: bundleOf('api', bundles), event: modelsEvent },
  { name: 'sweep', folder: bundleOf('sweep', bundles), event: {} },
].map((subject) => ({ ...subject, starts: [] as ColdStart[] }))

// The first round pays for the database's own warming up, and is not counted.
for (let run = 0; run <= RUNS; run++) {
  for (const { folder, event, starts } of subjects) {
    if (run > 0) starts.push(await coldStart(folder, event))
  }
}

const figures = subjects.map(({ folder, starts }) => {
  const code = readFileSync(join(folder, 'index.js'))
  const of = (name: keyof ColdStart) => medianOf(starts.map((start) => start[name]))
  return [of('loadMs'), of('firstMs'), of('wholeMs'), code.length / 1024, gzipSync(code).length / 1024]
})
const rows = subjects.map(({ name }, i) => [
  name,
  ...(figures[i] ?? []).map((figure, j) => `${number(figure)} (${times(figure / (figures[0]?.[j] ?? Number.NaN))})`),
])
console.log(`Medians of ${RUNS} fresh processes each, Node ${process.versions.node}; in brackets, times hello-world.\n`)
console.log(markdownTable(['bundle', 'load ms', 'first request ms', 'process to answer ms', 'KiB', 'gzip KiB'], rows))

async function coldStart(folder: string, event: object): Promise<ColdStart> {
  const [command = '', ...rest] = stand.onOwnCore([process.execPath, HOST, JSON.stringify(event)])
  const env = { ...lambdaEnvironment(deployedAs(folder), endpoint), PATH: process.env.PATH }
  const { stdout } = await promisify(execFile)(command, rest, { cwd: folder, env })
  const { statusCode = 200, ...start } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  if (statusCode >= 500) throw new Error(`A function answered its first event with ${statusCode}.`)
  return start
}
