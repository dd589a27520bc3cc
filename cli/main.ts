import { Command, CommanderError } from 'commander'
import { START } from '../layers/terminal/how-to-run.ts'
import { CliError } from '../layers/terminal/output.ts'
import { outputOf, printFailure, type Terminal } from '../layers/terminal/terminal.ts'
import manifest from '../package.json' with { type: 'json' }
import { ACCOUNTS } from './commands/accounts.ts'
import { ADMIN_KEYS } from './commands/admin-keys.ts'
import { option, usually } from './commands/arguments.ts'
import { AUDIT } from './commands/audit.ts'
import { CATALOG } from './commands/catalog.ts'
import { completionCommands } from './commands/completion.ts'
import { CONSOLE } from './commands/console.ts'
import { EVENTS, NOTICES } from './commands/events.ts'
import { IMPORT } from './commands/import.ts'
import { INIT } from './commands/init.ts'
import { KEYS } from './commands/keys.ts'
import type { CommandRow, OpenAdmin, Session } from './commands/open-session.ts'
import { EXPORT, INVOICE, STATEMENT } from './commands/papers.ts'
import { PLANS } from './commands/plans.ts'
import { deployCommands, startCommand } from './commands/programs.ts'
import { RECONCILE } from './commands/reconcile.ts'
import { ROUTES } from './commands/routes.ts'
import { addCommands } from './commands/run.ts'
import { USAGE } from './commands/usage.ts'
import { USE } from './commands/use.ts'
import type { SmokeOptions } from './smoke/smoke.ts'

const SMOKE: CommandRow = {
  words:
    'call every endpoint with a key made for it, and check the answers and the books; exits with 1 if one is wrong',
  options: [
    option('--model <id>', usually('the model to ask', 'the first in the catalog')),
    option('--origin <url...>', 'addresses behind CloudFront, which must be closed to everybody else'),
    option('--report <file>', 'a new file for what was seen, without secrets, to be sent with a bug report'),
  ],
  async work(session: Session, options: SmokeOptions) {
    const { smoke } = await import('./smoke/smoke.ts')
    if (!(await smoke(session, options))) session.fail()
  },
}

const COMMANDS = {
  keys: KEYS,
  accounts: ACCOUNTS,
  'admin-keys': ADMIN_KEYS,
  usage: USAGE,
  catalog: CATALOG,
  plans: PLANS,
  routes: ROUTES,
  events: EVENTS,
  notices: NOTICES,
  invoice: INVOICE,
  statement: STATEMENT,
  export: EXPORT,
  audit: AUDIT,
  reconcile: RECONCILE,
  smoke: SMOKE,
  console: CONSOLE,
  import: IMPORT,
  'use [stage]': USE,
}

/** Runs one command line, without the program's name, and returns its exit code. */
export async function main(args: readonly string[], terminal: Terminal, openAdmin?: OpenAdmin): Promise<number> {
  // Not an option of the program, because `catalog show` has one of the same name.
  if (args.length === 1 && args[0] === '--version') {
    outputOf(terminal).log(manifest.version)
    return 0
  }
  let exitCode = 0
  const fail = () => {
    exitCode = 1
  }
  try {
    const program = programFor({ terminal, fail, openAdmin })
    await program.parseAsync(startsGateway(program, args) ? ['start', ...args] : args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    printFailure(terminal, await explained(error))
    return 1
  }
}

/** A failure for the person at the terminal: the event and the remedy, without a stack. */
async function explained(error: unknown): Promise<string> {
  if (error instanceof CliError) return error.message
  const { awsTrouble, troubleLine } = await import('../layers/gateway/platform/aws/trouble.ts')
  const { name, message } = error as Error
  const trouble = awsTrouble(error)
  return trouble ? troubleLine(trouble) : `${name}: ${message}`
}

/** `waybill` alone starts the gateway, and takes its options: `waybill --port 9000`. */
function startsGateway(program: Command, [first]: readonly string[]): boolean {
  if (first === undefined) return true
  return first.startsWith('--') && !['--help', ...program.options.map(({ long }) => long)].includes(first.split('=')[0])
}

/** The commands with their arguments and options, which help and completions are made of. */
export function programFor(parts: Parameters<typeof addCommands>[2]): Command {
  const { terminal } = parts
  const out = outputOf(terminal)
  const program = new Command('waybill')
    .description('Operate a Waybill gateway.')
    .option('--local', `work on the gateway that '${START}' runs in this folder`)
    .option('--stage <name>', 'work on a gateway in AWS, with your own AWS credentials')
    .option('--stack <name>', 'work on a gateway that is in a stack of your own CDK app')
    .option('--json', 'print one JSON value and nothing else')
    .option('--wide', 'print every column in full, however wide the terminal is')
    .option('--yes', 'do without asking what a protected stage, a price below cost, or any warning asks about')
    .addHelpText('after', '\nwaybill alone is waybill start, and waybill --version tells the version.')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(add --help for what it takes)')
    .configureOutput({
      // Each text ends with its line.
      writeOut: (text) => out.log(text.replace(/\n$/, '')),
      writeErr: (text) => out.error(text.replace(/\n$/, '')),
    })
    .exitOverride()
  startCommand(program)
  addCommands(program, { init: INIT }, parts)
  deployCommands(program, parts.fail)
  addCommands(program, COMMANDS, parts)
  completionCommands(program, terminal)
  return program
}
