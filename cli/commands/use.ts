import type { Command } from 'commander'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { START } from '../../layers/terminal/how-to-run.ts'
import { printValue } from '../../layers/terminal/output.ts'
import { outputOf, type Terminal } from '../../layers/terminal/terminal.ts'
import {
  type ChosenGateway,
  chooseGateway,
  chooseNone,
  chosenGateway,
  type Gateway,
  STAGE_VARIABLE,
} from '../connect/chosen-gateway.ts'

type UseOptions = Gateway & { readonly none?: boolean; readonly json?: boolean }

export function useCommand(program: Command, terminal: Terminal): void {
  program
    .command('use [stage]')
    .description(
      'the gateway of commands that name none: choose it (a stage, --stack or --local), give it up, or tell it',
    )
    .option('--none', 'choose none any more')
    .action(async (named: string | undefined, _: object, command: Command) => {
      const { none, json, local, stack, stage = named } = command.optsWithGlobals<UseOptions>()
      if ([none, local, stack, stage].filter(Boolean).length > 1)
        throw new CliError('Choose one of a stage, --stack, --local and --none.')
      if (none) await chooseNone(terminal.env)
      else
        await chooseGateway({ ...(local && { local }), ...(stage && { stage }), ...(stack && { stack }) }, terminal.env)
      const chosen = await chosenGateway(terminal.env)
      const { stage: at = null, stack: on = null, local: here = false, by = null } = chosen ?? {}
      printValue({ out: outputOf(terminal), json }, { stage: at, stack: on, local: here, by }, toldOf(chosen))
    })
}

function toldOf(chosen: ChosenGateway | undefined): string {
  if (!chosen) return `No gateway is chosen: commands need --stage NAME, --stack NAME or --local, or ${STAGE_VARIABLE}.`
  return `Commands that name no other are for ${nameOf(chosen)} (by ${chosen.by}).`
}

function nameOf({ local, stage, stack, adminUrl }: Gateway): string {
  if (adminUrl) return `the admin API at ${adminUrl}, by an admin key`
  if (local) return `the local gateway, which '${START}' runs in the folder`
  return stage ? `the stage ${stage}` : `the gateway in the stack ${stack}`
}
