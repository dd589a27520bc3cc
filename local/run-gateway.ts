import { inspect } from 'node:util'
import { CliError } from '../layers/terminal/output.ts'
import { outputOf, thisTerminal } from '../layers/terminal/terminal.ts'
import { HELP, readSettings } from './settings.ts'

/** `npm start` and `waybill start`: resolves when the gateway serves, which goes on until this process is told to end. */
export async function runGateway(args: readonly string[]): Promise<void> {
  const stack = new AsyncDisposableStack()
  const end = async (code: number) => {
    await stack.disposeAsync()
    process.exit(code)
  }
  // All files that we make are for their owner only.
  process.umask(0o077)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(0))

  try {
    const settings = readSettings(args, process.env)
    if (settings) await (await import('./start.ts')).start(settings, stack)
    else console.log(HELP)
  } catch (error) {
    // An end asked for while everything was still starting is not a failure.
    if (stack.disposed) return
    outputOf(thisTerminal()).error(error instanceof CliError ? error.message : inspect(error))
    await end(1)
  }
}
