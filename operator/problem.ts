/** Something the person at the terminal can mend. Its message is all they see. */
export class Problem extends Error {
  override readonly name = 'Problem'
}
