import { styleText } from 'node:util'

const STYLES = { strong: 'bold', dim: 'dim', good: 'green', warn: 'yellow', bad: 'red' } as const

export type Style = keyof typeof STYLES
export type Paint = Record<Style, (text: string) => string>

type Stream = { readonly isTTY?: boolean }
type Environment = Readonly<Record<string, string | undefined>>

/** Colours on a terminal, plain text everywhere else. */
export function paintFor(stream: Stream, env: Environment = process.env): Paint {
  const coloured = hasColours(stream, env)
  const paint = (style: Style) => (text: string) =>
    coloured ? styleText(STYLES[style], text, { validateStream: false }) : text
  return {
    strong: paint('strong'),
    dim: paint('dim'),
    good: paint('good'),
    warn: paint('warn'),
    bad: paint('bad'),
  }
}

/** NO_COLOR of no-color.org, and FORCE_COLOR as Node reads it, which is the stronger one. */
function hasColours({ isTTY }: Stream, { FORCE_COLOR, NO_COLOR, TERM }: Environment): boolean {
  if (FORCE_COLOR !== undefined) return !['0', 'false'].includes(FORCE_COLOR)
  return isTTY === true && !NO_COLOR && TERM !== 'dumb'
}
