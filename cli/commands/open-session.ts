import { confirmer } from '../../layers/terminal/confirm.ts'
import type { Progress } from '../../layers/terminal/progress.ts'
import type { Terminal } from '../../layers/terminal/terminal.ts'
import { ask } from '../admin-client/ask.ts'
import { adminClient } from '../admin-client/http-client.ts'
import { chosenTarget } from '../connect/chosen-gateway.ts'
import { connect } from '../connect/connect.ts'
import type { GlobalOptions, OpenAdmin, Report, Session } from './run.ts'

type Parts = {
  readonly terminal: Terminal
  readonly openAdmin: OpenAdmin | undefined
  readonly report: Report
  readonly progress: Progress
}

/** A command's session with its gateway. */
export async function openSession(
  options: GlobalOptions,
  { terminal, openAdmin = (connection) => ask(adminClient(connection)), report, progress }: Parts,
): Promise<Session> {
  const connection = await connect(await chosenTarget(options, terminal.env), terminal.folder)
  const guard = { ...connection, yes: options.yes === true }
  const confirm = confirmer(guard, { input: terminal.input, output: terminal.errors })
  const nowMs = Date.now()
  return {
    ...connection,
    ...report,
    admin: openAdmin(connection),
    output: terminal.output,
    json: options.json === true,
    nowMs,
    progress,
    confirm: (describe) =>
      confirm(async () => {
        const change = await describe()
        progress.stop()
        return change
      }),
  }
}
