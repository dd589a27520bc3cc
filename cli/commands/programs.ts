import type { Command } from 'commander'
import { SEED_FILE, SETTINGS_FILE, WAYBILL } from '../../layers/terminal/how-to-run.ts'
import { CliError } from '../../layers/terminal/output.ts'
import type { GlobalOptions } from './open-session.ts'

// Commands that hand their options over to a program: the gateway, and CDK.

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

const DEPLOYMENTS: Readonly<Record<string, string>> = {
  preflight: 'look, before a first deployment, whether the account and the region are ready',
  bootstrap: 'prepare an account and region for CDK, once',
  diff: 'the changes that a deployment would make',
  deploy: `deploy a stage with the settings in ${SETTINGS_FILE} and, at first, the models in ${SEED_FILE}`,
  destroy: 'take a stage down',
}

/** All options but `--stage` go to CDK. */
export function deployCommands(program: Command, fail: () => void): void {
  for (const [name, words] of Object.entries(DEPLOYMENTS)) {
    program
      .command(name)
      .description(words)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(async (_: object, command: Command) => {
        const { stage, local } = command.optsWithGlobals<GlobalOptions>()
        if (local || !stage) throw new CliError(`Say which stage: ${WAYBILL} ${name} --stage dev`)
        const { runInfra } = await import('#infra')
        const all = name === 'destroy' ? ['--all'] : []
        // Last, because the last one of several stages counts.
        if ((await runInfra([name, ...command.args, ...all, '--stage', stage])) !== 0) fail()
      })
  }
}
