import { Command, CommanderError } from 'commander'
import { plainText } from '../layers/gateway/domain/plain-text.ts'
import { adminOf } from './admin-client/admin-client-of.ts'
import { adminKeysCommand } from './commands/admin-keys.ts'
import { auditCommand } from './commands/audit.ts'
import { backupCommands } from './commands/backup.ts'
import { catalogCommand } from './commands/catalog.ts'
import { consoleCommand } from './commands/console.ts'
import { eventsCommand } from './commands/events.ts'
import { keysCommand } from './commands/keys.ts'
import { routesCommand } from './commands/routes.ts'
import { runner } from './commands/run.ts'
import { usageCommand } from './commands/usage.ts'
import { explainFailure } from './terminal/explain-failure.ts'
import { outputOf, type Terminal } from './terminal/terminal.ts'

/** Runs one command line, without the program's name, and returns its exit code. */
export async function main(args: readonly string[], terminal: Terminal, openAdmin = adminOf): Promise<number> {
  const out = outputOf(terminal)
  let exitCode = 0
  const session = {
    out,
    fail: () => {
      exitCode = 1
    },
  }
  const program = new Command('waybill')
    .description('Operate a Waybill gateway.')
    .option('--local', "work on the gateway that 'npm start' runs in this folder")
    .option('--stage <name>', 'work on a gateway in AWS, with your own AWS credentials')
    .option('--direct', 'on the tables of a stage, although it has an admin API; with rights to them')
    .option('--json', 'print one JSON value and nothing else')
    .option('--yes', 'change a protected stage without asking')
    .showHelpAfterError('(add --help for what it takes)')
    .configureOutput({
      writeOut: (text) => terminal.output.write(plainText(text)),
      writeErr: (text) => terminal.errors.write(plainText(text)),
    })
    .exitOverride()
  const run = runner(terminal, session, openAdmin)
  keysCommand(program, run)
  adminKeysCommand(program, run)
  usageCommand(program, run)
  catalogCommand(program, run, out)
  routesCommand(program, run)
  eventsCommand(program, run)
  auditCommand(program, run)
  consoleCommand(program, run)
  backupCommands(program, run, terminal.folder)

  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    out.error(explainFailure(error))
    return 1
  }
}
