import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { generate } from './history.ts'
import { shrink } from './shrink.ts'
import { VARIANTS } from './variants.ts'
import { installVirtualTime, live, type Outcome } from './world.ts'

type Totals = Record<'histories' | 'calls' | 'admissions' | 'crashes' | 'faults', number>
type Share = { readonly seed: number; readonly histories: number; readonly workers: number; readonly broken?: string }
/** What a worker reports: how far it has come, or what it found. */
type Report = { readonly totals: Totals; readonly found?: string }

const EVERY = 500

if (isMainThread) await main()
else await work(workerData as Share, (report) => parentPort?.postMessage(report))

async function main(): Promise<void> {
  const { seed, histories, workers, broken } = readArguments()
  const startMs = performance.now()
  const totals = new Map<number, Totals>()
  const found = await new Promise<string | undefined>((resolve, reject) => {
    let running = workers
    for (let i = 0; i < workers; i++) {
      const share: Share = { seed: seed + i, histories: Math.ceil((histories - i) / workers), workers, ...broken }
      const worker = new Worker(new URL(import.meta.url), { workerData: share })
      worker.on('message', (report: Report) => {
        totals.set(i, report.totals)
        if (report.found) resolve(report.found)
      })
      worker.on('error', reject)
      worker.on('exit', () => {
        running -= 1
        if (running === 0) resolve(undefined)
      })
    }
  })
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  if (found) {
    console.error(found)
    process.exit(1)
  }
  const sum = (name: keyof Totals) =>
    [...totals.values()].reduce((total, one) => total + one[name], 0).toLocaleString('en')
  console.log(
    `${sum('histories')} histories from seed ${seed}: ${sum('calls')} calls, ${sum('admissions')} admitted, ` +
      `${sum('crashes')} crashes, ${sum('faults')} lost, late or refused messages, 0 nanocredits lost, in ${seconds} s`,
  )
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      histories: { type: 'string', default: '20000' },
      workers: { type: 'string', default: String(availableParallelism()) },
      broken: { type: 'string' },
    },
  })
  const number = (name: 'seed' | 'histories' | 'workers', least: number): number => {
    const value = Number(values[name])
    if (Number.isSafeInteger(value) && value >= least) return value
    console.error(`--${name} must be a whole number of at least ${least}, not '${values[name]}'.`)
    return process.exit(2)
  }
  const histories = number('histories', 1)
  const workers = Math.min(number('workers', 1), histories)
  return { seed: number('seed', 0), histories, workers, broken: values.broken ? { broken: values.broken } : {} }
}

async function work({ seed, histories, workers, broken }: Share, report: (report: Report) => void): Promise<void> {
  const variant = VARIANTS.find(({ name }) => name === broken)
  if (broken !== undefined && !variant) throw new Error(`There is no variant '${broken}'.`)
  installVirtualTime()
  Error.stackTraceLimit = 0
  const totals: Totals = { histories: 0, calls: 0, admissions: 0, crashes: 0, faults: 0 }
  for (let i = 0; i < histories; i++) {
    const history = generate(seed + i * workers)
    const outcome = await live(history, variant)
    add(totals, outcome)
    if (outcome.violation) return report({ totals, found: await explain(history.seed, outcome.violation) })
    if (i % EVERY === 0) report({ totals })
  }
  report({ totals })

  async function explain(badSeed: number, violation: string): Promise<string> {
    const whole = generate(badSeed)
    const short = await shrink(whole, async (tried) => (await live(tried, variant)).violation !== undefined)
    const lines: string[] = []
    await live(short, variant, (line) => lines.push(line))
    return [
      `Seed ${badSeed}: ${violation}`,
      `The shortest history that breaks (${short.steps.length} of ${whole.steps.length} steps; then everything comes to rest):`,
      `  ${short.nodes} nodes, ${short.keys.map((key) => JSON.stringify(key, (_, value) => (typeof value === 'bigint' ? Number(value) : value))).join(', ')}`,
      ...lines.map((line, i) => `${String(i + 1).padStart(4)}. ${line}`),
      `Again: npm run simulate -- --seed ${badSeed} --histories 1`,
    ].join('\n')
  }
}

function add(totals: Totals, outcome: Outcome): void {
  totals.histories += 1
  for (const name of ['calls', 'admissions', 'crashes', 'faults'] as const) totals[name] += outcome[name]
}
