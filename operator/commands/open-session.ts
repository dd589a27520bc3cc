import { adminOf } from '../admin-client/admin-client-of.ts'
import { chosenTarget } from '../connect/chosen-gateway.ts'
import { connect } from '../connect/connect.ts'
import { actBy } from '../connect/issue-key.ts'
import { confirmer } from '../terminal/confirm.ts'
import type { Progress } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { GlobalOptions, Report, Session } from './run.ts'

type Parts = {
  readonly terminal: Terminal
  readonly openAdmin: typeof adminOf | undefined
  readonly report: Report
  readonly progress: Progress
}

/** A command's session with its gateway, which ends with the command. */
export async function openSession(
  options: GlobalOptions,
  { terminal, openAdmin = adminOf, report, progress }: Parts,
): Promise<Session & AsyncDisposable> {
  const connection = await connect(await chosenTarget(options, terminal.env), terminal.folder)
  const guard = { ...connection, yes: options.yes === true }
  const confirm = confirmer(guard, { input: terminal.input, output: terminal.errors })
  const nowMs = Date.now()
  return {
    ...connection,
    ...report,
    admin: openAdmin(connection, (message) => report.out.error(message)),
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
    newAct: async () => actBy(await connection.whoAmI(), nowMs),
    async [Symbol.asyncDispose]() {
      connection.tables.client.destroy()
    },
  }
}
