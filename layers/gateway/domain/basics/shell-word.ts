const PLAIN = /^[\w./:@%+,-][\w./:=@%+,-]*$/
/** In single quotes a shell obeys a quote only, and fish a backslash in front of a quote, a backslash or the end, too. */
const OBEYED = /'|\\(?=['\\]|$)/g

/** A text as one word of a command that people paste into a shell. Every value that is printed in a command passes here. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replace(OBEYED, "'\\$&'")}'`
}

/** The path of a file, which no program takes for an option. */
export function shellPath(path: string): string {
  return shellWord(path.startsWith('-') ? `./${path}` : path)
}
