import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { LocalDatabase } from '../../local/database-thread.ts'
import { listenHere } from '../../local/dynamodb/http-server.ts'

const GUARD = fileURLToPath(new URL('dynamodb-local-guard.ts', import.meta.url))
const READY_WITHIN_MS = 60_000

/** Starts Amazon's DynamoDB Local, in memory. */
export async function startDynamoDbLocal(stack: AsyncDisposableStack): Promise<LocalDatabase> {
  const port = await freePort()
  const args = ['--disable-warning=ExperimentalWarning', GUARD, String(port)]
  const guard = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'pipe'], env: environment() })
  const exited = new Promise<number | null>((resolve) => guard.once('exit', resolve))
  stack.defer(async () => {
    guard.stdin.destroy()
    await exited
  })
  let complaints = ''
  guard.stderr.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-4_000)
  })
  const ended = exited.then((code): never => {
    throw new Error(explain(code, complaints))
  })
  ended.catch(() => {})
  const endpoint = `http://127.0.0.1:${port}`
  await Promise.race([untilReady(endpoint), ended])
  return { endpoint, ended }
}

/** It runs for minutes, not months: with the quick compiler and the simple collector it takes half the processor time. */
const QUICKLY = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

/** It reports its use to Amazon unless this variable is set. */
function environment(): NodeJS.ProcessEnv {
  const { JAVA_TOOL_OPTIONS: given = '' } = process.env
  return { ...process.env, JAVA_TOOL_OPTIONS: `${given} ${QUICKLY}`.trim(), DDB_LOCAL_TELEMETRY: '0' }
}

async function untilReady(endpoint: string): Promise<void> {
  for (const start = Date.now(); Date.now() - start < READY_WITHIN_MS; ) {
    const answer = await fetch(endpoint).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer) return
    await sleep(50)
  }
  throw new Error(`DynamoDB Local did not start within ${READY_WITHIN_MS / 1000} s.`)
}

async function freePort(): Promise<number> {
  const probe = createServer()
  const port = await listenHere(probe)
  await new Promise((resolve) => probe.close(resolve))
  return port
}

function explain(code: number | null, complaints: string): string {
  const reason = complaints.split('\n').find((line) => line.trim() !== '' && !line.startsWith('Picked up '))
  return `DynamoDB Local ended with code ${code}${reason ? `: ${reason}` : ''}.`
}
