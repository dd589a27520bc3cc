import type { Argument, Option } from 'commander'
import { confirmer } from '../../layers/terminal/confirm.ts'
import type { Progress } from '../../layers/terminal/progress.ts'
import type { Screen, Terminal } from '../../layers/terminal/terminal.ts'
import { ask } from '../admin-client/ask.ts'
import { type AdminClient, adminClient } from '../admin-client/http-client.ts'
import { chosenTarget } from '../connect/chosen-gateway.ts'
import { type Connection, connect, type Target } from '../connect/connect.ts'

/** The dependencies of every command: output and time. */
export type Here = {
  readonly terminal: Terminal
  readonly out: Screen
  /** Makes the command line end with 1, although nothing was thrown. */
  fail(): void
  readonly json: boolean
  readonly nowMs: number
}

/** Those of a command that works on a gateway. */
export type Session = Awaited<ReturnType<typeof openSession>>

type Work<Place, Options> = (place: Place, options: Options, ...args: string[]) => unknown

export type CommandRow = {
  readonly words: string
  /** An argument that is more than a text, behind those of the usage. */
  readonly argument?: Argument
  readonly options?: readonly Option[]
  /** Throws before a gateway is asked. */
  readonly check?: (options: never) => void
  readonly work?: Work<Session, never>
  readonly here?: Work<Here, never>
  /** Decides for a command that can do both. */
  readonly isHere?: Work<Here, never>
  readonly commands?: CommandRows
}

/** The names are usages, such as `show <key>`. */
export type CommandRows = Readonly<Record<string, CommandRow>>

export type OpenAdmin = (connection: Connection) => AdminClient

export type GlobalOptions = Target & { readonly json?: boolean; readonly yes?: boolean; readonly wide?: boolean }

type Parts = Here & { readonly progress: Progress; readonly openAdmin: OpenAdmin | undefined }

export async function openSession(options: GlobalOptions, { openAdmin, ...parts }: Parts) {
  const { terminal, progress } = parts
  const connection = await connect(await chosenTarget(options, terminal.env), terminal.folder)
  const guard = { ...connection, yes: options.yes === true, before: progress.stop }
  const confirm = confirmer(guard, { input: terminal.input, output: terminal.errors })
  const admin = ask((openAdmin ?? adminClient)(connection), (warnings) => {
    // The last line is for programs.
    for (const line of warnings.split('\n').slice(0, -1)) parts.out.error(line.replace(/^(?! )/, 'warning: '))
    return confirm(() => 'do it in spite of the warning', true)
  })
  return { ...connection, ...parts, admin, confirm }
}
