import { confirmer } from '../../layers/terminal/confirm.ts'
import type { Terminal } from '../../layers/terminal/terminal.ts'
import { ask } from '../admin-client/ask.ts'
import { adminClient } from '../admin-client/http-client.ts'
import { chosenTarget } from '../connect/chosen-gateway.ts'
import { connect } from '../connect/connect.ts'
import type { GlobalOptions, OpenAdmin, Session } from './run.ts'

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
