import { parentPort, workerData } from 'node:worker_threads'
import { loadContract } from '../../layers/gateway/contracts/contracts.ts'
import { endpointNamed } from '../../layers/gateway/endpoints.ts'
import { generateWithAccount, hasAccount } from './account-history.ts'
import { explain } from './explain.ts'
import { generate, type History } from './history.ts'
import { generateWithLanes, hasLanes } from './lane-history.ts'
import { COUNTED, newTotals, type Totals } from './totals.ts'
import { VARIANTS } from './variants.ts'
import { installVirtualTime, live } from './world.ts'

/** The histories of a worker: every `stride`th from a seed. */
export type Share = {
  readonly seed: number
  readonly histories: number
  readonly stride: number
  readonly broken: string | undefined
}
/** The report of a share that is done, or of so much of it. */
export type Report = {
  readonly share: Share
  readonly totals: Totals
  readonly isPart?: boolean
  readonly found?: string
}

const REPORT_EVERY = 1_000

// Before the first history: a file comes when it comes, and what happens must depend on the seed only.
const LATE = [import('#advice'), import('#answers'), import('#on-demand')]
await Promise.all([loadContract(endpointNamed('responses')), ...LATE])
// Every timer of a process is replaced, so the simulation has a thread of its own.
installVirtualTime()
Error.stackTraceLimit = 0
for (const share of workerData as readonly Share[]) parentPort?.postMessage(await work(share))

async function work(share: Share): Promise<Report> {
  const { seed, histories, stride, broken } = share
  const variant = VARIANTS.find(({ name }) => name === broken)
  const totals = newTotals()
  let rewritten = 0
  for (let i = 0; i < histories; i++) {
    const historySeed = seed + i * stride
    const history = historyOf(historySeed)
    const outcome = await live(history, variant)
    rewritten += outcome.rewritten
    if (outcome.invalid) throw new Error(`'${broken}' makes an invalid write: ${outcome.invalid}`)
    for (const name of [...COUNTED, 'busy'] as const) totals[name] += outcome.totals[name]
    if (totals.histories % REPORT_EVERY === 0) parentPort?.postMessage({ share, totals, isPart: true })
    if (outcome.violation) return { share, totals, found: await explain(history, outcome.violation, variant) }
  }
  if (variant?.rewrite && rewritten === 0) throw new Error(`'${broken}' changes no command of any history.`)
  return { share, totals }
}

function historyOf(seed: number): History {
  if (hasLanes(seed)) return generateWithLanes(seed)
  return hasAccount(seed) ? generateWithAccount(seed) : generate(seed)
}
