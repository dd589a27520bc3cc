import { execFileSync, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const STAY_AWAKE = fileURLToPath(new URL('stay-awake.cjs', import.meta.url))

/**
 * The core of each process. The measured process has a core to itself; the load, the upstream and the database share
 * another one: they are children of this process or part of it, and stay on its core.
 */
export type Cores = Disposable & {
  /** One line for the reader. */
  readonly told: string
  /** A command that starts this one on the measured core. */
  onOwnCore(command: readonly string[]): readonly string[]
}

export function takeCores(): Cores {
  const allowed = allowedCores()
  const [own, other] = allowed
  if (own === undefined || other === undefined) {
    const why = allowed.length === 0 ? 'there is no taskset here' : 'there is one core only'
    return {
      told: `processes are not pinned to cores: ${why}`,
      onOwnCore: (command) => command,
      [Symbol.dispose]() {},
    }
  }
  execFileSync('taskset', ['-acp', String(other), String(process.pid)], { stdio: 'ignore' })
  const onOwnCore = (command: readonly string[]) => ['taskset', '-c', String(own), ...command]
  const awake = keepAwake(onOwnCore)
  return {
    told: `the measured process has core ${own}; load, upstream and database share core ${other}`,
    onOwnCore,
    [Symbol.dispose]: () => void awake.kill(),
  }
}

/**
 * A core of a virtual machine that sleeps while a gateway waits is slow when it wakes, and its time would be counted as
 * the gateway's: half of the figure with a database. Without chrt the core may sleep.
 */
function keepAwake(onOwnCore: Cores['onOwnCore']) {
  const [program = '', ...args] = onOwnCore(['chrt', '--idle', '0', process.execPath, STAY_AWAKE])
  return spawn(program, args, { stdio: 'ignore' }).once('error', () => {})
}

/** None if there is no taskset. */
function allowedCores(): number[] {
  try {
    const printed = execFileSync('taskset', ['-cp', String(process.pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
    return parseCoreList(printed.toString().split(':').at(-1) ?? '')
  } catch {
    return []
  }
}

/** `0-2,5` */
function parseCoreList(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })
}
