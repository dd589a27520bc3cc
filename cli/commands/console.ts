import { once } from 'node:events'
import type { Command } from 'commander'
import { printValue } from '../../layers/terminal/output.ts'
import { hasDisplay, openBrowser, writeLaunchFile } from '../console/open-browser.ts'
import { CONSOLE_PORT } from '../console/port.ts'
import { wholeNumber } from './arguments.ts'
import type { Session } from './open-session.ts'
import type { Run } from './run.ts'

type ConsoleOptions = { port?: number; open: boolean; readOnly?: boolean }

export function consoleCommand(program: Command, run: Run): void {
  program
    .command('console')
    .description('serve a page for all of this, and the admin API, on this machine only, until Ctrl-C')
    .option(
      '--port <n>',
      `on this port of 127.0.0.1; ${CONSOLE_PORT} or the next free one, unless given`,
      wholeNumber(0, 65_535),
    )
    .option('--no-open', 'print the address, and open no browser')
    .option('--read-only', 'look, and change nothing')
    .action(run(consoleAction))
}

async function consoleAction(session: Session, { port, open, readOnly = false }: ConsoleOptions): Promise<void> {
  const { stage, adminUrl } = session
  if (!readOnly) await session.confirm(() => 'open a console from which keys, credits and the catalog can be changed')
  await using stack = new AsyncDisposableStack()
  const ended = Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => once(process, signal)))
  const { startConsole } = await import('../console/start-console.ts')
  const address = await startConsole(session, { port, isReadOnly: readOnly }, stack)
  printValue(
    session,
    { url: address },
    `The console of ${stage}${readOnly ? ', read only' : ''}, through ${adminUrl}: ${address}\nThe address signs this browser in, once; then ${new URL(address).origin} is enough, in every tab. Ctrl-C ends it.`,
  )
  if (open && hasDisplay(process.platform, process.env)) {
    openBrowser(await writeLaunchFile(address, stack), process.platform)
  }
  session.progress.stop()
  await ended
}
