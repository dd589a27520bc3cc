import { parentPort, workerData } from 'node:worker_threads'
import { loadContract } from '../../layers/gateway/contracts/contracts.ts'
import { CONTRACTS, type ContractName, endpointNamed } from '../../layers/gateway/endpoints.ts'
import { explain } from './explain.ts'
import { ACTS, type ActKind, generate } from './history.ts'
import { VARIANTS } from './variants.ts'
import { installVirtualTime, live } from './world.ts'

/** The histories of a worker: every `stride`th from a seed. */
export type Share = {
  readonly seed: number
  readonly histories: number
  readonly stride: number
  readonly broken: string | undefined
}
const COUNTED = [
  'calls',
  'admissions',
  'byNewKeys',
  'crashes',
  'faults',
  'pushes',
  'dayTotals',
  'exportedRows',
  'keptSums',
  'cursorsInKeys',
  'lateRows',
] as const
export type Totals = Record<'histories' | (typeof COUNTED)[number] | ContractName | ActKind, number>
/** The report of a share that is done, or of so much of it. */
export type Report = {
  readonly share: Share
  readonly totals: Totals
  readonly isPart?: boolean
  readonly found?: string
}

const REPORT_EVERY = 1_000

// Before the first history: a file comes when it comes, and what happens must depend on the seed only.
await loadContract(endpointNamed('responses'))
// Every timer of a process is replaced, so the simulation has a thread of its own.
installVirtualTime()
Error.stackTraceLimit = 0
for (const share of workerData as readonly Share[]) parentPort?.postMessage(await work(share))

async function work(share: Share): Promise<Report> {
  const { seed, histories, stride, broken } = share
  const variant = VARIANTS.find(({ name }) => name === broken)
  const totals: Totals = {
    ...{ histories: 0, calls: 0, admissions: 0, byNewKeys: 0, crashes: 0, faults: 0 },
    ...{ pushes: 0, dayTotals: 0, exportedRows: 0, keptSums: 0, cursorsInKeys: 0, lateRows: 0 },
    ...{ create: 0, rotate: 0, grant: 0 },
    ...{ chat: 0, responses: 0, messages: 0, completions: 0, embeddings: 0 },
  }
  let rewritten = 0
  for (let i = 0; i < histories; i++) {
    const history = generate(seed + i * stride)
    const outcome = await live(history, variant)
    rewritten += outcome.rewritten
    if (outcome.invalid) throw new Error(`'${broken}' makes an invalid write: ${outcome.invalid}`)
    totals.histories += 1
    for (const name of COUNTED) totals[name] += outcome[name]
    for (const name of CONTRACTS) totals[name] += outcome.paid[name] ?? 0
    for (const name of ACTS) totals[name] += outcome.repeated[name] ?? 0
    if (totals.histories % REPORT_EVERY === 0) parentPort?.postMessage({ share, totals, isPart: true })
    if (outcome.violation) return { share, totals, found: await explain(history, outcome.violation, variant) }
  }
  if (variant?.rewrite && rewritten === 0) throw new Error(`'${broken}' changes no command of any history.`)
  return { share, totals }
}
