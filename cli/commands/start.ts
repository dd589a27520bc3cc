import type { Command } from 'commander'
import { CliError } from '../../layers/terminal/cli-error.ts'

export function startCommand(program: Command): void {
  program
    .command('start')
    .description('run a gateway on this machine until Ctrl-C; start --help has its options')
    // They are the gateway's own.
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      const [first, ...args] = (program as Command & { readonly rawArgs: readonly string[] }).rawArgs
      if (first !== 'start') throw new CliError(`'start' takes its options after it, and '${first}' is none of them.`)
      const { runGateway } = await import('#gateway')
      await runGateway(args)
    })
}
