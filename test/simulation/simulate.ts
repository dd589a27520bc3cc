import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { CONTRACTS } from '../../layers/gateway/endpoints.ts'
import { ACCOUNT_VARIANTS } from './account-variants.ts'
import { ACTS } from './history.ts'
import { LANE_VARIANTS } from './lane-variants.ts'
import { COUNTED, type Totals } from './totals.ts'
import { VARIANTS } from './variants.ts'
import type { Report, Share } from './worker.ts'

type Wanted = { readonly seed: number; readonly histories: number; readonly every: number; readonly workers: number }

const ENOUGH_FOR_EACH = 200

/** Histories with accounts, and those with lanes. */
const SUBJECTS = [
  { variants: ACCOUNT_VARIANTS, seed: 1, every: 5 },
  { variants: LANE_VARIANTS, seed: 2, every: 10 },
] as const

const { broken, ...wanted } = readArguments()
// Workers that are still searching end with the process.
process.exit(broken.length > 1 ? await catchEach(wanted, broken) : await simulate(wanted, broken[0]))

async function simulate({ seed, histories, every, workers }: Wanted, broken: string | undefined): Promise<number> {
  const startMs = performance.now()
  const stride = Math.min(workers, histories)
  const shares = Array.from({ length: stride }, (_, i) => {
    return { seed: seed + i * every, histories: Math.ceil((histories - i) / stride), stride: stride * every, broken }
  })
  const reports = await firstFoundOrAll(shares)
  const found = reports.find((report) => report.found)?.found
  if (found) {
    console.error(found)
    return 1
  }
  const sumOf = (name: keyof Totals) => reports.reduce((total, { totals }) => total + totals[name], 0)
  const sum = (name: keyof Totals) => sumOf(name).toLocaleString('en')
  const unseen = COUNTED.filter((name) => sumOf(name) === 0)
  if (unseen.length > 0 && histories >= ENOUGH_FOR_EACH && every === 1) {
    console.error(`There were no ${unseen.join(' and no ')}: these histories prove nothing of them.`)
    return 1
  }
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  console.log(
    `${sum('histories')} histories from seed ${seed}: ${sum('calls')} calls, ${sum('admissions')} admitted, ${sum('byNewKeys')} of them with new keys, ` +
      `${sum('crashes')} crashes, ${sum('pushes')} catalogs, ${sum('dayTotals')} totals of days, ${sum('exportedRows')} exported rows, ${sum('keptSums')} sums and ${sum('cursorsInKeys')} cursors within a key, ${sum('lateRows')} rows after the sum of their hour, ${sum('faults')} lost, late, repeated or refused messages, ` +
      `charged answers in ${CONTRACTS.map((contract) => `${contract} ${sum(contract)}`).join(', ')}, ${sum('accounts')} with an account: ${sum('draws')} draws, ${sum('returns')} returns, ${sum('adoptions')} adoptions, ${sum('refusals')} true refusals, ${sum('busy')} busy ones; ${sum('withLanes')} with lanes: ${sum('deals')} deals, ${sum('dealsOfRequests')} of them begun by requests, ${sum('limitRefusals')} justified refusals of limits; asked for again and done once: ${ACTS.map((act) => `${act} ${sum(act)}`).join(', ')}, 0 nanocredits lost, in ${seconds} s`,
  )
  return 0
}

/** The simulation's own test: each fault that is built in is found. */
async function catchEach({ seed, histories, every, workers }: Wanted, faults: readonly string[]): Promise<number> {
  let caught = 0
  const tell = ({ share, found, isPart }: Report) => {
    if (isPart) return
    if (found) caught += 1
    console.log(`${found ? 'caught' : 'MISSED'}: ${share.broken}${found ? ` (${found.split('\n')[0]})` : ''}`)
  }
  const shares = faults.map((broken) => {
    // The histories in which it can show at all.
    const ofSubject = SUBJECTS.find(({ variants }) => every === 1 && variants.some(({ name }) => name === broken))
    return { seed: ofSubject?.seed ?? seed, histories, stride: ofSubject?.every ?? every, broken }
  })
  await Promise.all(
    Array.from({ length: workers }, (_, i) =>
      runWorker(
        shares.filter((_, n) => n % workers === i),
        tell,
      ),
    ),
  )
  return caught === faults.length ? 0 : 1
}

/** All reports, or the first that found something. */
async function firstFoundOrAll(shares: readonly Share[]): Promise<Report[]> {
  const reports: Report[] = []
  return new Promise((resolve, reject) => {
    const parts = new Map<number, number>()
    const hear = (report: Report) => {
      parts.set(report.share.seed, report.totals.histories)
      if (report.isPart) return showProgress([...parts.values()].reduce((sum, part) => sum + part, 0))
      reports.push(report)
      if (report.found) resolve([report])
    }
    Promise.all(shares.map((share) => runWorker([share], hear))).then(() => resolve(reports), reject)
  })
}

/** To a person who waits; a million take a while. */
function showProgress(histories: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${histories.toLocaleString('en')} histories …\r`)
}

/** One share after another, in one thread. */
function runWorker(shares: readonly Share[], hear: (report: Report) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: shares })
    worker.on('message', hear)
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}

function readArguments(): Wanted & { readonly broken: readonly string[] } {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string', default: '1' },
        histories: { type: 'string', default: '20000' },
        every: { type: 'string', default: '1' },
        workers: { type: 'string', default: String(availableParallelism()) },
        broken: { type: 'string', multiple: true, default: [] },
      },
    })
    const number = (name: keyof Wanted, least: number): number => {
      const value = Number(values[name])
      if (Number.isSafeInteger(value) && value >= least) return value
      throw new Error(`--${name} must be a whole number of at least ${least}, not '${values[name]}'.`)
    }
    const faults = VARIANTS.map(({ name }) => name)
    const broken = values.broken.includes('all') ? faults : values.broken
    if (!broken.every((fault) => faults.includes(fault))) {
      throw new Error(`--broken must be 'all' or one of: ${faults.map((fault) => `'${fault}'`).join(', ')}.`)
    }
    const [histories, every, workers] = [number('histories', 1), number('every', 1), number('workers', 1)]
    return { seed: number('seed', 0), histories, every, workers, broken }
  } catch (error) {
    console.error((error as Error).message)
    return process.exit(2)
  }
}
