import type { Command } from 'commander'
import { startProgress } from '../../layers/terminal/progress.ts'
import { screenOf, type Terminal } from '../../layers/terminal/terminal.ts'
import type { Ask } from '../admin-client/ask.ts'
import { inWords } from '../admin-client/refusal.ts'
import { findId, noSuch } from './find-key.ts'
import type { CommandRow, CommandRows, GlobalOptions, OpenAdmin } from './open-session.ts'

type Parts = { readonly terminal: Terminal; readonly fail: () => void; readonly openAdmin: OpenAdmin | undefined }

export function addCommands(parent: Command, rows: CommandRows, parts: Parts): void {
  for (const [usage, row] of Object.entries(rows)) {
    const command = parent.command(usage).description(row.words)
    if (row.argument) command.addArgument(row.argument)
    for (const option of row.options ?? []) command.addOption(option)
    if (row.commands) addCommands(command, row.commands, parts)
    else nameUnknownFirst(command.action(() => run(command, row, parts)))
  }
}

/** Commander tells what is missing before it tells what it does not know, and that may be the missing one, mistyped. */
function nameUnknownFirst(command: Command): void {
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (args) => {
    const parsed = parse(args)
    const [flag] = parsed.unknown
    const isHelp = parsed.unknown.some((one) => ['-h', '--help'].includes(one))
    if (flag !== undefined && !isHelp) (command as unknown as { unknownOption(flag: string): void }).unknownOption(flag)
    return parsed
  }
}

async function run(command: Command, row: CommandRow, { terminal, fail, openAdmin }: Parts): Promise<void> {
  const { check, work, here, isHere = () => work === undefined } = row
  const options = command.optsWithGlobals<GlobalOptions>()
  check?.(options as never)
  const { json = false, wide = false } = options
  const progress = startProgress(terminal.errors, nameOf(command))
  const place = { terminal, out: screenOf(terminal, wide, progress.clear), fail, json, nowMs: Date.now() }
  try {
    if (await isHere(place, options as never, ...command.processedArgs)) {
      progress.stop()
      await here?.(place, options as never, ...command.processedArgs)
      return
    }
    // Loaded only now: help, completions and the version need no gateway.
    const { openSession } = await import('./open-session.ts')
    const session = await openSession(options, { ...place, progress, openAdmin })
    await withKeys(command, session.admin, (found, args) => work?.(session, { ...options, ...found } as never, ...args))
  } finally {
    progress.stop()
  }
}

function nameOf(command: Command): string {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()
}

const NAMED = ['key', 'account'] as const
type Named = Partial<Record<(typeof NAMED)[number], string>>

/** Every argument `<key>` or `<account>`, and option `--key` or `--account`, may be an id, a name, an external id or the last four; commands get the id. */
async function withKeys(
  command: Command,
  admin: Ask,
  work: (options: Named, args: readonly string[]) => unknown,
): Promise<void> {
  const given = command.opts<Named>()
  const kinds = command.registeredArguments.map((argument) => NAMED.find((kind) => kind === argument.name()))
  const idOf = async (kind: (typeof NAMED)[number] | undefined, text: string) =>
    kind ? findId(admin, kind, text) : text
  const args = await Promise.all(command.processedArgs.map((text, i) => idOf(kinds[i], text)))
  const found: Named = {}
  for (const kind of NAMED) if (given[kind] !== undefined) found[kind] = await idOf(kind, given[kind])
  const done = work(found, args)
  const at = kinds.findIndex((kind) => kind)
  const kind = kinds[at]
  await (kind ? inWords(Promise.resolve(done), { not_found: noSuch(kind, args[at] ?? '') }) : done)
}
