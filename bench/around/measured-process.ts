import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Cores } from './cores.ts'

const REPORTER = fileURLToPath(new URL('report-consumption.cjs', import.meta.url))

export type Consumption = { readonly cpuUs: number }

export type MeasuredProcess = AsyncDisposable & {
  readonly child: ChildProcess
  /** The next message that the process sends by itself. */
  message<T>(): Promise<T>
  ask<T>(question: object): Promise<T>
  consumption(): Promise<Consumption>
}

export type Options = {
  readonly cwd?: string
  /** The whole environment; without it, ours. */
  readonly env?: NodeJS.ProcessEnv
}

/** A Node program on the measured core. It reports its consumption, whatever the program. */
export function startMeasured(cores: Cores, args: readonly string[], { cwd, env }: Options = {}): MeasuredProcess {
  const [program = '', ...rest] = cores.onOwnCore([process.execPath, '--require', REPORTER, ...args])
  const child = spawn(program, rest, {
    ...(cwd !== undefined && { cwd }),
    env: env ?? process.env,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let complaints = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-2_000)
  })
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with code ${code}: ${complaints}`)))
  })
  ended.catch(() => {})

  const message = async () => (await Promise.race([once(child, 'message'), ended]))[0]
  const ask = (question: object) => {
    const answer = message()
    child.send(question)
    return answer
  }
  return {
    child,
    message,
    ask,
    consumption: () => ask({ report: 'consumption' }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      // We end it ourselves, so code that still waits for a message gets no error.
      child.removeAllListeners('exit')
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}
