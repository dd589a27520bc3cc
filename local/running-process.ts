import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

type RunningProcess = {
  readonly parentPid: number
  /** Equal for the same process only, however often its number is given away again. */
  readonly startedAt: string
  readonly command: string
}

/** The process with this number, if there is one that can be seen. */
export async function findProcess(pid: number): Promise<RunningProcess | undefined> {
  return (await fromProc(pid)) ?? (await fromPs(pid))
}

/** Linux, also where there is no ps. */
async function fromProc(pid: number): Promise<RunningProcess | undefined> {
  try {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ])
    // The second field is the program's name in brackets, with any character in it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parentPid: Number(fields[1]), startedAt: `${fields[19]}`, command: command.replaceAll('\0', ' ').trim() }
  } catch {
    return undefined
  }
}

async function fromPs(pid: number): Promise<RunningProcess | undefined> {
  const columns = ['ppid=', 'lstart=', 'command='].flatMap((column) => ['-o', column])
  const listed = await promisify(execFile)('ps', ['-ww', ...columns, '-p', String(pid)]).catch(() => undefined)
  const [, parentPid, startedAt, command] = /^\s*(\d+)\s+(.{24})\s+(.+)/.exec(listed?.stdout ?? '') ?? []
  if (parentPid === undefined || startedAt === undefined || command === undefined) return undefined
  return { parentPid: Number(parentPid), startedAt, command }
}
