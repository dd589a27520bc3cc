import { START } from '../../layers/terminal/how-to-run.ts'
import { CliError, printValue } from '../../layers/terminal/output.ts'
import { chooseGateway, chosenGateway, STAGE_VARIABLE } from '../connect/chosen-gateway.ts'
import type { Target } from '../connect/connect.ts'
import { option } from './arguments.ts'
import type { CommandRow, Here } from './open-session.ts'

export const USE: CommandRow = {
  words: 'the gateway of commands that name none: choose it (a stage, --stack or --local), give it up, or tell it',
  options: [option('--none', 'choose none any more')],
  async here(place: Here, options: Target & { readonly none?: boolean }, typed?: string) {
    const { env } = place.terminal
    const { none, local, stack, stage = typed } = options
    if ([none, local, stack, stage].filter(Boolean).length > 1)
      throw new CliError('Choose one of a stage, --stack, --local and --none.')
    const named = { ...(local && { local }), ...(stage && { stage }), ...(stack && { stack }) }
    if (none || Object.keys(named).length > 0) await chooseGateway(none ? undefined : named, env)
    const chosen = await chosenGateway(env)
    const words = chosen
      ? `Commands that name no other are for ${nameOf(chosen)} (by ${chosen.by}).`
      : `No gateway is chosen: commands need --stage NAME, --stack NAME or --local, or ${STAGE_VARIABLE}.`
    const { stage: at = null, stack: on = null, local: here = false, by = null } = chosen ?? {}
    printValue(place, { stage: at, stack: on, local: here, by }, words)
  },
}

function nameOf({ local, stage, stack, adminUrl }: Target): string {
  if (adminUrl) return `the admin API at ${adminUrl}, by an admin key`
  if (local) return `the local gateway, which '${START}' runs in the folder`
  return stage ? `the stage ${stage}` : `the gateway in the stack ${stack}`
}
