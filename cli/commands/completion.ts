import { Argument, type Command, type Option } from 'commander'
import { OUTCOMES } from '../../layers/gateway/domain/rows/usage-row.ts'
import type { Terminal } from '../../layers/terminal/terminal.ts'
import { RANGE_WORDS } from './time-range.ts'

const PLACE = 'complete -- '

/** Each asks `waybill complete` for the words that can follow; a shell offers files if there is none. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_waybill() {
  local IFS=$'\\n'
  COMPREPLY=($(waybill ${PLACE}"\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
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
  const shells = new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS))
  program
    .command('completion')
    .description('print what makes your shell complete commands: eval "$(waybill completion bash)"')
    .addArgument(shells)
    .action((shell: string) => {
      terminal.output.write(`${SCRIPTS[shell]}\n`)
    })

  program
    .command('complete [words...]', { hidden: true })
    .description('the words that can follow')
    .action((words: readonly string[]) => {
      for (const word of completionsOf(program, words)) terminal.output.write(`${word}\n`)
    })
}

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
  if (typed.startsWith('-')) {
    const flags = optionsOf(command).map(({ long }) => long ?? '')
    return [...flags, '--help', ...(command.parent ? [] : ['--version'])]
  }
  const visible = command.createHelp().visibleCommands(command)
  return visible.length > 0 ? visible.map((one) => one.name()) : (command.registeredArguments[args]?.argChoices ?? [])
}

function optionsOf(command: Command): readonly Option[] {
  return command.parent ? [...command.options, ...optionsOf(command.parent)] : command.options
}
