import { Argument, type Command, type Option } from 'commander'
import { OUTCOMES } from '../../layers/gateway/domain/rows/usage-row.ts'
import type { Terminal } from '../../layers/terminal/terminal.ts'
import { RANGE_WORDS } from './time-range.ts'

const PLACE = 'complete -- '

/** Each asks `waybill complete` for the words that can follow; a shell offers files if there is none. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_waybill() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$(printf %q "$word")"); done < <(waybill ${PLACE}"\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _waybill waybill`,
  zsh: `#compdef waybill
_waybill() {
  local -a found
  found=(\${(f)"$(waybill ${PLACE}"\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
compdef _waybill waybill`,
  fish: `function __waybill
  waybill ${PLACE}(commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c waybill -a '(__waybill)'`,
}

/** Values that are offered for options which take others, too. */
const OFFERED: Readonly<Record<string, readonly string[]>> = {
  '--from <when>': RANGE_WORDS,
  '--to <when>': RANGE_WORDS,
  '--status <status>': OUTCOMES,
}

export function completionCommands(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('print what makes your shell complete commands: eval "$(waybill completion bash)"')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .action((shell: string) => {
      terminal.output.write(`${SCRIPTS[shell]}\n`)
    })

  program
    .command('complete [words...]', { hidden: true })
    .description('the words that can follow')
    .action(async (words: readonly string[]) => {
      const known = completionsOf(program, words)
      // Nobody reads why names cannot be had.
      const all = known.length > 0 ? known : await namesFor(program, words, terminal).catch(() => [])
      for (const word of all) terminal.output.write(`${word}\n`)
    })
}

/** The list whose names an option or an argument takes, and the field that has them. */
const NAMES: Readonly<Record<string, readonly [path: string, field: string]>> = {
  key: ['/keys', 'name'],
  account: ['/accounts', 'name'],
  'admin-key': ['/admin-keys', 'name'],
  plan: ['/plans', 'name'],
  model: ['/routes', 'model'],
  models: ['/routes', 'model'],
  provider: ['/routes', 'provider'],
}
const PAGED = ['/keys', '/accounts', '/admin-keys']
const GONE: readonly unknown[] = ['revoked', 'closed']

/** The names at the gateway of the command that is typed. */
async function namesFor(program: Command, words: readonly string[], { env, folder }: Terminal): Promise<string[]> {
  const { command, awaited, args } = walked(program, words.slice(0, -1))
  const [path, field] = NAMES[awaited?.attributeName() ?? command.registeredArguments[args]?.name() ?? ''] ?? []
  if (path === undefined || field === undefined) return []
  const { chosenTarget } = await import('../connect/chosen-gateway.ts')
  const { connect } = await import('../connect/connect.ts')
  const { adminClient } = await import('../admin-client/http-client.ts')
  const { ask } = await import('../admin-client/ask.ts')
  const after = (flag: string) => (words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined)
  const [stage, stack] = [after('--stage'), after('--stack')]
  const named = { local: words.includes('--local'), ...(stage && { stage }), ...(stack && { stack }) }
  const admin = ask(adminClient(await connect(await chosenTarget(named, env), folder)))
  const rows = PAGED.includes(path) ? admin.list<Row>(path, {}, 500) : admin.get<{ data: Row[] }>(path)
  // The typed word may be quoted, and the last of several.
  const [, before = '', last = ''] = /^(.*,)?(.*)$/.exec((words.at(-1) ?? '').replaceAll(/["'\\]/g, '')) ?? []
  const names = (await rows).data.filter(({ status }) => !GONE.includes(status)).map((row) => String(row[field]))
  return [...new Set(names)].filter((name) => name.startsWith(last)).map((name) => before + name)
}

type Row = Readonly<Record<string, unknown>>

/** The words that can stand in place of the last one, which is being typed. */
export function completionsOf(program: Command, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? ''
  return wordsAfter(walked(program, words.slice(0, -1)), typed).filter((word) => word.startsWith(typed))
}

/** The command so far, the option whose value comes next, and the number of arguments. */
function walked(program: Command, words: readonly string[]) {
  let [command, awaited, args] = [program, undefined as Option | undefined, 0]
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word)
    if (awaited) awaited = undefined
    else if (word.startsWith('-')) awaited = optionsOf(command).find((one) => one.long === word && one.required)
    else if (next) [command, args] = [next, 0]
    else args += 1
  }
  return { command, awaited, args }
}

function wordsAfter({ command, awaited, args }: ReturnType<typeof walked>, typed: string): readonly string[] {
  if (awaited) return awaited.argChoices ?? OFFERED[awaited.flags] ?? []
  if (typed.startsWith('-'))
    return [...optionsOf(command).map(({ long }) => long ?? ''), '--help', ...(command.parent ? [] : ['--version'])]
  const visible = command.createHelp().visibleCommands(command)
  return visible.length > 0 ? visible.map((one) => one.name()) : (command.registeredArguments[args]?.argChoices ?? [])
}

function optionsOf(command: Command): readonly Option[] {
  return command.parent ? [...command.options, ...optionsOf(command.parent)] : command.options
}
