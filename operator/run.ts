import type { Command } from 'commander'
import { type Confirm, confirmer } from './confirm.ts'
import { type Connection, connect, type Target } from './connect.ts'

/** The means of a command: a gateway to work on, a way to print, the time, and a way to ask before a change. */
export type Session = Connection & { readonly json: boolean; readonly nowMs: number; readonly confirm: Confirm }

type Work<Options> = (session: Session, options: Options, ...args: string[]) => Promise<void>

export type Run = <Options = object>(work: Work<Options>) => (...args: unknown[]) => Promise<void>

/** Commander hands over the arguments, then the options, then the command. */
export const run: Run =
  (work) =>
  async (...args) => {
    const command = args.at(-1) as Command
    const options = command.optsWithGlobals<Target & { json?: boolean; yes?: boolean }>()
    const connection = await connect(options)
    const guard = { ...connection, yes: options.yes === true }
    const confirm = confirmer(guard, { input: process.stdin, output: process.stderr })
    try {
      await work(
        { ...connection, json: options.json === true, nowMs: Date.now(), confirm },
        options as never,
        ...(command.processedArgs as string[]),
      )
    } finally {
      connection.tables.client.destroy()
    }
  }
