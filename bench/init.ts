import { type ColdStart, coldStart } from './around/cold-start.ts'
import { openStand } from './stand.ts'
import { medianOf } from './statistics.ts'
import { type Bundle, bundleHelloWorld, bundleOf, lambdaEnvironment } from './subjects/bundles.ts'
import { chatEvent, httpEvent } from './subjects/http-event.ts'
import { prepareTables } from './subjects/prepare-tables.ts'
import { number, times } from './words.ts'

// The cost of a cold start, beside a function that does nothing. Every figure is the median of fresh processes, which
// take turns, so that the machine's other work falls on all of them alike.

const RUNS = 15

await using stand = openStand(console.error)
const endpoint = await stand.dynamodb()
const { secret } = await prepareTables(endpoint, await stand.upstreamUrl())
const env = lambdaEnvironment(endpoint)

type Subject = { readonly name: string; readonly bundle: Bundle; readonly event: object; readonly starts: ColdStart[] }

using bundles = new DisposableStack()
const subjects: readonly Subject[] = [
  subject('hello-world', bundleHelloWorld(), httpEvent('GET', '/', secret)),
  subject('chat', bundleOf('chat'), chatEvent(secret, 'one-chunk')),
  subject('api', bundleOf('api'), httpEvent('GET', '/v1/models', secret)),
  subject('sweep', bundleOf('sweep'), {}),
]

// The first round pays for the database's own warming up, and is not counted.
for (let run = 0; run <= RUNS; run++) {
  for (const { bundle, event, starts } of subjects) {
    const start = await coldStart(stand.cores, bundle, event, env)
    if (run > 0) starts.push(start)
  }
}
print()

function subject(name: string, bundle: Bundle, event: object): Subject {
  return { name, bundle: bundles.use(bundle), event, starts: [] }
}

function print(): void {
  const heads = ['bundle', 'load ms', 'first request ms', 'process to answer ms', 'KiB', 'gzip KiB']
  const figures = subjects.map(figuresOf)
  const rows = subjects.map(({ name }, i) => [
    name,
    ...(figures[i] ?? []).map((figure, j) => `${number(figure)} (${times(figure / (figures[0]?.[j] ?? Number.NaN))})`),
  ])
  const widths = heads.map((head, j) => Math.max(head.length, ...rows.map((row) => row[j]?.length ?? 0)))
  const line = (cells: string[]) => `| ${cells.map((cell, j) => cell.padEnd(widths[j] ?? 0)).join(' | ')} |`
  console.log(
    `Medians of ${RUNS} fresh processes each, Node ${process.versions.node}; in brackets, times hello-world.\n`,
  )
  for (const cells of [heads, widths.map((width) => '-'.repeat(width)), ...rows]) console.log(line(cells))
}

function figuresOf({ bundle, starts }: Subject): number[] {
  const of = (name: keyof ColdStart) => medianOf(starts.map((start) => start[name]))
  return [of('loadMs'), of('firstMs'), of('wholeMs'), bundle.bytes / 1024, bundle.gzipBytes / 1024]
}
