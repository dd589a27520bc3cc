/** A mistake that the person at the terminal can mend. Its message is all they see. */
export class CliError extends Error {
  override readonly name = 'CliError'
}
