import { type Confirm, confirmer } from '../../layers/terminal/confirm.ts'
import type { Progress } from '../../layers/terminal/progress.ts'
import type { Screen, Terminal } from '../../layers/terminal/terminal.ts'
import { type Ask, ask } from '../admin-client/ask.ts'
import { adminClient } from '../admin-client/http-client.ts'
import { chosenTarget } from '../connect/chosen-gateway.ts'
import { type Connection, connect, type Target } from '../connect/connect.ts'

/** The dependencies of a command: the gateway, output, time, and the confirmation of changes. */
export type Session = Connection & {
  readonly out: Screen
  /** Makes the command line end with 1, although nothing was thrown. */
  fail(): void
  /** The admin API of the gateway. */
  readonly admin: Ask
  readonly json: boolean
  readonly nowMs: number
  readonly confirm: Confirm
  /** For output that is too long to be printed line by line. */
  readonly output: Terminal['output']
  readonly progress: Progress
}

export type OpenAdmin = (connection: Connection) => Ask

export type GlobalOptions = Target & { readonly json?: boolean; readonly yes?: boolean; readonly wide?: boolean }

type Parts = Pick<Session, 'out' | 'fail' | 'progress'> & {
  readonly terminal: Terminal
  readonly openAdmin: OpenAdmin | undefined
}

/** A command's session with its gateway. */
export async function openSession(
  options: GlobalOptions,
  { terminal, openAdmin = (connection) => ask(adminClient(connection)), ...parts }: Parts,
): Promise<Session> {
  const connection = await connect(await chosenTarget(options, terminal.env), terminal.folder)
  const guard = { ...connection, yes: options.yes === true }
  const confirm = confirmer(guard, { input: terminal.input, output: terminal.errors })
  return {
    ...connection,
    ...parts,
    admin: openAdmin(connection),
    output: terminal.output,
    json: options.json === true,
    nowMs: Date.now(),
    confirm: (describe) =>
      confirm(async () => {
        const change = await describe()
        parts.progress.stop()
        return change
      }),
  }
}
