import { awsTrouble, troubleLine } from '../gateway/platform/aws/trouble.ts'
import { CliError } from './cli-error.ts'

/** The message about a failure for the person at the terminal: the event and the remedy, without a stack. */
export function explainFailure(error: unknown): string {
  if (error instanceof CliError) return error.message
  const { name, message } = error as Error
  const trouble = awsTrouble(error)
  return trouble ? troubleLine(trouble) : `${name}: ${message}`
}
