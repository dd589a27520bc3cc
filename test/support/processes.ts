import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { type LocalFile, localFile, localFolder } from '../../cli/connect/local-gateway.ts'
import { BIN, ROOT } from './cdk-environment.ts'
import { FASTER } from './compile-cache.ts'
import { until } from './wait.ts'

const NODE = join(BIN, 'node')

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type Process = {
  readonly child: ChildProcess
  readonly output: { stdout: string; stderr: string }
  readonly ended: Promise<Ended>
}

/** A test that fails leaves no process behind. SIGTERM, so that a local gateway ends its database. */
const started: Process[] = []
afterAll(async () => {
  for (const { child, ended } of started.filter(({ child }) => child.exitCode === null && child.signalCode === null)) {
    child.kill('SIGTERM')
    await ended
  }
})

/** Not the choices of the person who runs the tests. */
const UNCHOSEN = { XDG_CONFIG_HOME: '/nonexistent', WAYBILL_STAGE: '', FORCE_COLOR: '0' }

export function run(file: string, args: string[], cwd: string, env: Record<string, string> = {}): Process {
  const child = spawn(NODE, [join(ROOT, file), ...args], {
    cwd,
    env: { ...process.env, ...FASTER, ...UNCHOSEN, PORT: '0', ...env },
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...output })))
  const it = { child, output, ended }
  started.push(it)
  return it
}

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'waybill-test-'))
}

export type Local = LocalFile

/** `npm start` in a folder of its own, up to the moment it serves. */
export async function startLocal(
  cwd: string,
  env: Record<string, string> = {},
  args: string[] = [],
): Promise<Process & { local: Local }> {
  const started = run('local/main.ts', args, cwd, env)
  const file = localFile(localFolder(cwd, env.WAYBILL_DATA))
  await until(() => {
    if (started.child.exitCode !== null) throw new Error(started.output.stderr)
    return existsSync(file) && started.output.stdout.includes('Ctrl-C')
  }, 40_000)
  return { ...started, local: JSON.parse(readFileSync(file, 'utf8')) as Local }
}
