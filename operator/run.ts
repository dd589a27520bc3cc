import type { Command } from 'commander'
import { type Connection, connect, type Target } from './connect.ts'

/** What a command is given: what it works on, how to print, and the time. */
export type Session = Connection & { readonly json: boolean; readonly nowMs: number }

type Work<Options> = (session: Session, options: Options, ...args: string[]) => Promise<void>

export type Run = <Options = object>(work: Work<Options>) => (...args: unknown[]) => Promise<void>

/** Commander hands over the arguments, then the options, then the command. */
export const run: Run =
  (work) =>
  async (...args) => {
    const command = args.at(-1) as Command
    const options = command.optsWithGlobals<Target & { json?: boolean }>()
    const connection = await connect(options)
    try {
      await work(
        { ...connection, json: options.json === true, nowMs: Date.now() },
        options as never,
        ...(command.processedArgs as string[]),
      )
    } finally {
      connection.tables.client.destroy()
    }
  }
