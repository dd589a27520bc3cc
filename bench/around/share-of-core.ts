import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** For this memory Lambda gives a whole core: Lambda Developer Guide, "Configure Lambda function memory". */
const MB_OF_A_CORE = 1_769
/** Lambda's share was seen to come in slices of 20 ms, of which a function has its part at once and then waits. */
const PERIOD_US = 20_000

export type ShareOfCore = Disposable & {
  /** Of one core, such as 0.11. */
  readonly share: number
  /** A command that starts this one with a share of its own. */
  within(command: readonly string[]): readonly string[]
}

/** The share of a core that a function of this memory has, by a control group; a sentence if none can be made here. */
export function takeShareOfCore(memoryMb: number): ShareOfCore | { readonly missing: string } {
  const share = memoryMb / MB_OF_A_CORE
  const groups: string[] = []
  function newGroup(): string {
    const group = join(parentGroup(), `waybill-bench-${process.pid}-${groups.length}`)
    mkdirSync(group)
    groups.push(group)
    limit(group, Math.round(share * PERIOD_US))
    return group
  }
  function removeAll(): void {
    for (const group of groups.splice(0)) rmdirSync(group)
  }
  try {
    newGroup()
    removeAll()
  } catch (error) {
    return { missing: `no control group can be made here: ${(error as Error).message}` }
  }
  return {
    share,
    within: (command) => ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', newGroup(), ...command],
    [Symbol.dispose]: removeAll,
  }
}

const VERSION_1 = '/sys/fs/cgroup/cpu'

function parentGroup(): string {
  return existsSync(VERSION_1) ? VERSION_1 : '/sys/fs/cgroup'
}

function limit(group: string, quotaUs: number): void {
  const write = (file: string, value: string) => writeFileSync(join(group, file), value)
  if (existsSync(VERSION_1)) {
    write('cpu.cfs_period_us', String(PERIOD_US))
    write('cpu.cfs_quota_us', String(quotaUs))
  } else {
    write('cpu.max', `${quotaUs} ${PERIOD_US}`)
  }
}
