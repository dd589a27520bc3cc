import { createSocket } from 'node:dgram'
import { fileURLToPath } from 'node:url'
import { cpuOf } from './around/cpu-of.ts'
import type { Target } from './around/load.ts'
import { startGateway, warmUp } from './around/warm-up.ts'
import { openStand, type Subject } from './stand.ts'
import { medianOf } from './statistics.ts'

// What tracing costs a request: the gateway without it, with it and a request that AWS does not sample, and with it and one
// that it does. They take turns, and each is compared with the one without in the same round.

const ROUNDS = 15
const CHAT = { model: 'hundred-chunks', stream: false } as const
const TRACE = 'Root=1-67890abc-0123456789abcdef01234567;Parent=0123456789abcdef'

await using stand = openStand(console.error)
await using processes = new AsyncDisposableStack()
const daemon = createSocket('udp4').unref()
let documents = 0
daemon.on('message', () => {
  documents += 1
})
await new Promise<void>((resolve) => daemon.bind(0, '127.0.0.1', resolve))
const port = String(daemon.address().port)

const subjects = {
  off: await start([]),
  'not sampled': await start([port], `${TRACE};Sampled=0`),
  sampled: await start([port], `${TRACE};Sampled=1`),
}
type Name = keyof typeof subjects
const names = Object.keys(subjects) as Name[]

for (const name of names) await warmUp(subjects[name], 'wholes')
const rounds: Record<Name, number>[] = []
for (let round = 0; round < ROUNDS; round++) {
  const figures = { off: 0, 'not sampled': 0, sampled: 0 }
  // Each goes first in its turn.
  for (const i of names.keys()) {
    const name = names[(round + i) % names.length] as Name
    figures[name] = await cpuOf(subjects[name], CHAT)
  }
  rounds.push(figures)
}

for (const name of names) {
  const cpuUs = medianOf(rounds.map((round) => round[name]))
  const more = medianOf(rounds.map((round) => round[name] - round.off))
  console.log(`${name.padEnd(12)} ${cpuUs.toFixed(0)} µs a request, ${more.toFixed(0)} µs more than off`)
}
console.log(`${documents} documents arrived`)

async function start(daemonPort: readonly string[], header?: string): Promise<Subject> {
  const program = fileURLToPath(new URL('subjects/gateway.ts', import.meta.url))
  const args = [program, await stand.upstreamUrl(), '', ...daemonPort]
  const env = { ...process.env, ...(header && { _X_AMZN_TRACE_ID: header }) }
  const started = processes.use(startGateway(stand.cores, args, env))
  return { process: started, target: await started.message<Target>() }
}
