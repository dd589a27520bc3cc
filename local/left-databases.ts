import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findProcess } from './running-process.ts'

type DatabaseNote = {
  readonly pid: number
  readonly startedAt: string
  readonly port: number
  /** The `npm start` that it belongs to. */
  readonly ownerPid: number
}

const NOTE = /^database-\d+\.json$/
const ENDS_WITHIN_MS = 3_000

const noteFile = (folder: string, ownerPid: number) => join(folder, `database-${ownerPid}.json`)

/** Notes which process is our database, so that the next start can end it if we are killed before we can. */
export async function noteDatabase(folder: string, pid: number, port: number, ownerPid = process.pid): Promise<void> {
  const { startedAt } = (await findProcess(pid)) ?? {}
  if (startedAt === undefined) return
  const note: DatabaseNote = { pid, startedAt, port, ownerPid }
  await writeFile(noteFile(folder, ownerPid), JSON.stringify(note), { mode: 0o600 })
}

export function forgetDatabase(folder: string): Promise<void> {
  return rm(noteFile(folder, process.pid), { force: true })
}

/** Ends the databases whose `npm start` was killed. Returns how many there were. */
export async function endLeftDatabases(folder: string): Promise<number> {
  let ended = 0
  for (const name of (await readdir(folder)).filter((one) => NOTE.test(one))) {
    const file = join(folder, name)
    const note = await readNote(file)
    const state = note ? await stateOf(note) : 'gone'
    if (note && state === 'left') {
      await end(note)
      ended += 1
    }
    if (state !== 'owned') await rm(file, { force: true })
  }
  return ended
}

async function readNote(file: string): Promise<DatabaseNote | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as DatabaseNote
  } catch {
    return undefined
  }
}

/** Nothing is 'left' unless it is provably the process that was noted. */
async function stateOf({ pid, startedAt, port, ownerPid }: DatabaseNote): Promise<'gone' | 'owned' | 'left'> {
  const found = Number.isSafeInteger(pid) && pid > 1 ? await findProcess(pid) : undefined
  const words = found?.command.split(' ') ?? []
  const isDatabase = words.some((word) => word.endsWith('DynamoDBLocal.jar')) && words.includes(String(port))
  if (!found || !isDatabase || found.startedAt !== startedAt) return 'gone'
  return found.parentPid === ownerPid ? 'owned' : 'left'
}

/** Asked first, so that its files are whole; then made to. */
async function end(note: DatabaseNote): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!send(note.pid, signal)) return
    for (const start = Date.now(); Date.now() - start < ENDS_WITHIN_MS; await sleep(20)) {
      if ((await stateOf(note)) !== 'left') return
    }
  }
}

/** Whether there was such a process, and it is ours to end. */
function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
