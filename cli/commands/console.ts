import { once } from 'node:events'
import { printValue } from '../../layers/terminal/output.ts'
import { hasDisplay, openBrowser, writeLaunchFile } from '../console/open-browser.ts'
import { CONSOLE_PORT } from '../console/port.ts'
import { option, usually, wholeNumber } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'

type ConsoleOptions = { port?: number; open: boolean; readOnly?: boolean }

const PORT_WORDS = usually('on this port of 127.0.0.1', `${CONSOLE_PORT}, or the next one that is free`)

export const CONSOLE: CommandRow = {
  words: 'serve a page for all of this, and the admin API, on this machine only, until Ctrl-C',
  options: [
    option('--port <n>', PORT_WORDS, wholeNumber(0, 65_535)),
    option('--no-open', 'print the address, and open no browser'),
    option('--read-only', 'look, and change nothing'),
  ],
  work: consoleAction,
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
