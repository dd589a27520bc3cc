import type { Command } from 'commander'
import {
  type ChosenGateway,
  checkedStage,
  chooseGateway,
  chooseNone,
  chosenGateway,
  type Gateway,
  STAGE_VARIABLE,
} from '../connect/chosen-gateway.ts'
import { CliError } from '../terminal/cli-error.ts'
import { START } from '../terminal/how-to-run.ts'
import { printJson } from '../terminal/output.ts'
import { outputOf, type Terminal } from '../terminal/terminal.ts'

type UseOptions = Gateway & { readonly none?: boolean; readonly json?: boolean }

export function useCommand(program: Command, terminal: Terminal): void {
  program
    .command('use [stage]')
    .description('the gateway of commands that name none: choose it (a stage or --local), give it up, or tell it')
    .option('--none', 'choose none any more')
    .action(async (named: string | undefined, _: object, command: Command) => {
      const { none, json, local, stage = named } = command.optsWithGlobals<UseOptions>()
      if ([none, local, stage].filter(Boolean).length > 1)
        throw new CliError('Choose one of a stage, --local and --none.')
      if (none) await chooseNone(terminal.env)
      else if (local) await chooseGateway({ local }, terminal.env)
      else if (stage) await chooseGateway({ stage: checkedStage(stage) }, terminal.env)
      const chosen = await chosenGateway(terminal.env)
      const out = outputOf(terminal)
      if (json) printJson(out, { stage: chosen?.stage ?? null, local: chosen?.local ?? false, by: chosen?.by ?? null })
      else out.log(toldOf(chosen))
    })
}

function toldOf(chosen: ChosenGateway | undefined): string {
  if (!chosen) return `No gateway is chosen: commands need --stage NAME or --local, or ${STAGE_VARIABLE}.`
  const gateway = chosen.local ? `the local gateway, which '${START}' runs in the folder` : `the stage ${chosen.stage}`
  return `Commands without --stage or --local are for ${gateway} (by ${chosen.by}).`
}
