import type { Argument, Command, Option } from 'commander'
import { startProgress } from '../../layers/terminal/progress.ts'
import { screenOf, type Terminal } from '../../layers/terminal/terminal.ts'
import type { Ask } from '../admin-client/ask.ts'
import { findKeyId } from './find-key.ts'
import type { GlobalOptions, OpenAdmin, Session } from './open-session.ts'

export type Report = Pick<Session, 'out' | 'fail'>

type Work<Options> = (session: Session, options: Options, ...args: string[]) => Promise<void>

export type Run = <Options = object>(work: Work<Options>) => (...args: unknown[]) => Promise<void>

type Parts = {
  readonly terminal: Terminal
  readonly fail: () => void
  readonly openAdmin: OpenAdmin | undefined
}

/** A command that works on a gateway. */
type CommandRow = {
  readonly words: string
  /** An argument that is more than a text, behind those of the usage. */
  readonly argument?: Argument
  readonly options?: readonly Option[]
  /** Throws before a gateway is asked. */
  readonly check?: (command: Command) => void
  readonly work: Work<never>
}

/** The names are usages, such as `show <key>`. */
export function addCommands(parent: Command, run: Run, rows: Readonly<Record<string, CommandRow>>): void {
  for (const [usage, { words, argument, options = [], check = () => {}, work }] of Object.entries(rows)) {
    const command = parent.command(usage).description(words).hook('preAction', check).action(run(work))
    if (argument) command.addArgument(argument)
    for (const option of options) command.addOption(option)
  }
}

/** Commander passes the arguments, then the options, then the command. */
export function runner({ terminal, fail, openAdmin }: Parts): Run {
  return (work) =>
    async (...args) => {
      const command = args.at(-1) as Command
      const options = command.optsWithGlobals<GlobalOptions>()
      const progress = startProgress(terminal.errors, nameOf(command))
      const out = screenOf(terminal, options.wide === true, progress.clear)
      try {
        // Loaded only now: help, completions and the version need no gateway.
        const { openSession } = await import('./open-session.ts')
        const session = await openSession(options, { terminal, openAdmin, out, fail, progress })
        const found = await findKeys(command, session.admin)
        await work(session, { ...options, ...found.options } as never, ...found.args)
      } finally {
        progress.stop()
      }
    }
}

function nameOf(command: Command): string {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()
}

/** Every argument `<key>` and option `--key` may be an id, a name, an external id or the last four; commands get the id. */
async function findKeys(command: Command, admin: Ask): Promise<{ options: { key?: string }; args: string[] }> {
  const { key } = command.opts<{ key?: string }>()
  const args = command.processedArgs.map((text, i) =>
    command.registeredArguments[i]?.name() === 'key' ? findKeyId(admin, text) : text,
  )
  return { options: key === undefined ? {} : { key: await findKeyId(admin, key) }, args: await Promise.all(args) }
}
