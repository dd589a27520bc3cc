import { styleText } from 'node:util'

export type Paint = Record<'strong' | 'dim' | 'good' | 'bad', (text: string) => string>

const STYLES = { strong: 'bold', dim: 'dim', good: 'green', bad: 'red' } as const

/** Colours on a terminal, plain text everywhere else. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  const coloured = stream.isTTY && !process.env.NO_COLOR
  const paint = (style: (typeof STYLES)[keyof typeof STYLES]) => (text: string) =>
    coloured ? styleText(style, text, { validateStream: false }) : text
  return {
    strong: paint(STYLES.strong),
    dim: paint(STYLES.dim),
    good: paint(STYLES.good),
    bad: paint(STYLES.bad),
  }
}
