import type { Command } from 'commander'
import type { Act } from '../../layers/gateway/domain/act.ts'
import type { Output } from '../../layers/gateway/domain/plain-text.ts'
import type { adminOf } from '../admin-client/admin-client-of.ts'
import type { Ask } from '../admin-client/ask.ts'
import { type Connection, connect, type Target } from '../connect/connect.ts'
import { actBy } from '../connect/issue-key.ts'
import { type Confirm, confirmer } from '../terminal/confirm.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type Report = {
  readonly out: Output
  /** Makes the command line end with 1, although nothing was thrown. */
  fail(): void
}

/** The dependencies of a command: the gateway, output, time, and the confirmation of changes. */
export type Session = Connection &
  Report & {
    /** The admin API of the gateway, for everything that has a route there. */
    readonly admin: Ask
    readonly json: boolean
    readonly nowMs: number
    readonly confirm: Confirm
    /** The act of this command, with its author. */
    readonly newAct: () => Promise<Act>
    /** For output that is too long to be printed line by line. */
    readonly output: Terminal['output']
  }

type Work<Options> = (session: Session, options: Options, ...args: string[]) => Promise<void>

export type Run = <Options = object>(work: Work<Options>) => (...args: unknown[]) => Promise<void>

/** Commander passes the arguments, then the options, then the command. */
export function runner(terminal: Terminal, report: Report, openAdmin: typeof adminOf): Run {
  return (work) =>
    async (...args) => {
      const command = args.at(-1) as Command
      const options = command.optsWithGlobals<Target & { json?: boolean; yes?: boolean }>()
      const connection = await connect(options, terminal.folder)
      const guard = { ...connection, yes: options.yes === true }
      const confirm = confirmer(guard, { input: terminal.input, output: terminal.errors })
      const { output } = terminal
      const nowMs = Date.now()
      const sign = async () => actBy(await connection.whoAmI(), nowMs)
      const admin = openAdmin(connection, (message) => report.out.error(message))
      const json = options.json === true
      try {
        await work(
          { ...connection, ...report, admin, output, json, nowMs, confirm, newAct: sign },
          options as never,
          ...(command.processedArgs as string[]),
        )
      } finally {
        connection.tables.client.destroy()
      }
    }
}
