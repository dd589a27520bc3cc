import { CliError } from '../operator/cli-error.ts'
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
    console.error(error instanceof CliError ? error.message.split('\n')[0] : error)
    await end(1)
  }
}

async function end(code: number): Promise<void> {
  await stack.disposeAsync()
  process.exit(code)
}
