import { inspect } from 'node:util'
import { CliError } from '../operator/cli-error.ts'
import { outputOf, thisTerminal } from '../operator/terminal.ts'
import { readSettings } from './settings.ts'
import { start } from './start.ts'

const stack = new AsyncDisposableStack()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => end(0))
}

try {
  await start(readSettings(process.env), stack)
} catch (error) {
  // An end asked for while everything was still starting is not a failure.
  if (!stack.disposed) {
    const said = error instanceof CliError ? (error.message.split('\n')[0] ?? '') : inspect(error)
    outputOf(thisTerminal()).error(said)
    await end(1)
  }
}

async function end(code: number): Promise<void> {
  await stack.disposeAsync()
  process.exit(code)
}
