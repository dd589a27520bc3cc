import { chmod, mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type LocalFile, localFile } from '../cli/connect/local-gateway.ts'
import { START_WITH, WAYBILL } from '../layers/terminal/how-to-run.ts'
import { CliError } from '../layers/terminal/output.ts'

/** Locks the folder for this process until it ends, however it ends: the lock is the system's. Throws a CliError. */
export async function takeFolder(folder: string, stack: AsyncDisposableStack): Promise<void> {
  await privateFolder(folder)
  try {
    const lock = new DatabaseSync(join(folder, 'lock'))
    stack.defer(() => lock.close())
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    throw (error as { errcode?: number }).errcode === BUSY ? await explain(folder) : error
  }
}

/** SQLite's code for a lock that another process holds. */
const BUSY = 5

async function explain(folder: string): Promise<CliError> {
  const text = await readFile(localFile(folder), 'utf8').catch(() => undefined)
  const { baseUrl, pid }: Partial<LocalFile> = text ? JSON.parse(text) : {}
  const where = baseUrl ? ` at ${baseUrl}, as process ${pid}` : ''
  const others = `Its console: ${WAYBILL} console --local. Another one beside it: ${START_WITH} --data FOLDER --port 0`
  return new CliError(`Waybill is already running in this folder${where}. ${others}`)
}

const STICKY = 0o1000

async function privateFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // A folder that everybody shares, such as /tmp, stays as it is. The files in it are private all the same.
    if ((await stat(folder)).mode & STICKY) return
    await chmod(folder, 0o700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CliError(`The folder '${folder}' cannot be made and kept private (${code}). Choose one that is yours.`)
  }
}
