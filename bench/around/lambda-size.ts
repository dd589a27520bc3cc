import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'

const MEMORY = '/sys/fs/cgroup/memory'
const CPU = '/sys/fs/cgroup/cpu'
const PERIOD_US = 20_000
/** The memory at which a Lambda function has one whole core; with less it has that share of one. */
const MB_OF_A_CORE = 1_769

/** The memory and the share of a core that Lambda gives to a function of some size, by Linux's control groups. */
type LambdaSize = Disposable & {
  add(pid: number): void
  /** The most memory that its processes had at once. */
  peakBytes(): number
  killed(): boolean
}

/** Undefined on a machine that has no such groups (version 1), or none for us. */
export function limitTo(memoryMb: number): LambdaSize | undefined {
  const name = `waybill-bench-${process.pid}-${memoryMb}`
  const [memory, cpu] = [`${MEMORY}/${name}`, `${CPU}/${name}`]
  try {
    mkdirSync(memory)
    mkdirSync(cpu)
    writeFileSync(`${memory}/memory.limit_in_bytes`, String(memoryMb * 1024 * 1024))
    writeFileSync(`${cpu}/cpu.cfs_period_us`, String(PERIOD_US))
    writeFileSync(`${cpu}/cpu.cfs_quota_us`, String(Math.round((PERIOD_US * memoryMb) / MB_OF_A_CORE)))
  } catch {
    return undefined
  }
  return {
    add(pid) {
      for (const group of [memory, cpu]) writeFileSync(`${group}/cgroup.procs`, String(pid))
    },
    peakBytes: () => Number(readFileSync(`${memory}/memory.max_usage_in_bytes`, 'utf8')),
    killed: () => /oom_kill [1-9]/.test(readFileSync(`${memory}/memory.oom_control`, 'utf8')),
    [Symbol.dispose]() {
      for (const group of [memory, cpu]) rmdirSync(group)
    },
  }
}

/** As the bootstrap of Lambda's Node runtimes sets them: a tenth for what is young, in two halves, and the rest. */
export function heapLimits(memoryMb: number): string[] {
  const young = Math.floor(memoryMb / 10)
  return [`--max-semi-space-size=${Math.floor(young / 2)}`, `--max-old-space-size=${memoryMb - young}`]
}
