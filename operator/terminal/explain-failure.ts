import { awsTrouble, troubleLine } from '../../layers/gateway/aws/trouble.ts'
import { isUnavailable } from '../../layers/gateway/store/failures.ts'
import { WriteOutcomeUnknown } from '../../layers/gateway/store/transact.ts'
import { CliError } from './cli-error.ts'
import { START } from './how-to-run.ts'

/** The message about a failure for the person at the terminal: the event and the remedy, without a stack. */
export function explainFailure(error: unknown): string {
  if (error instanceof CliError) return error.message
  if (error instanceof WriteOutcomeUnknown) return `${error.message} Look before you try again.`
  const { name, message, code } = error as Error & { code?: string }
  if (name === 'AccessDeniedException') {
    return `This works on the tables with your own AWS credentials, which do not allow it (${message}). The admin API of a stage does not do it for you.`
  }
  if (code === 'ECONNREFUSED') return `The database does not answer. Is the gateway running? Start it with '${START}'.`
  if (isUnavailable(error)) {
    return `The database did not answer (${name}: ${message}). If this was a change, it may have been made all the same: look before you try again.`
  }
  const trouble = awsTrouble(error)
  return trouble ? troubleLine(trouble) : `${name}: ${message}`
}
