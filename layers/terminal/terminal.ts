import { Console } from 'node:console'
import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'
import { type Output, plainOutput, plainText } from '../gateway/domain/basics/plain-text.ts'

type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

export type Terminal = {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Stream
  readonly errors: Stream
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export function thisTerminal(): Terminal {
  const { stdin: input, stdout: output, stderr: errors, env } = process
  return { input, output, errors, folder: process.cwd(), env }
}

/** Prints lines of plain text. A reader that has left, such as `head`, is no error. */
export function outputOf({ output, errors }: Pick<Terminal, 'output' | 'errors'>): Output {
  return plainOutput(new Console({ stdout: output, stderr: errors }))
}

/** The first line of a failure is the event, in red on a terminal; the others are details. */
export function printFailure({ output, errors, env }: Terminal, message: string): void {
  const [first = '', ...more] = plainText(message).split('\n')
  new Console({ stdout: output, stderr: errors }).error([paintFor(errors, env).bad(first), ...more].join('\n'))
}

export type Screen = ReturnType<typeof screenOf>

const USUAL_WIDTH = 80

export function screenOf({ output, errors, env }: Terminal, isWide: boolean, before: () => void) {
  const raw = new Console({ stdout: output, stderr: errors })
  const printed = (print: (text: string) => void) => (text: string) => {
    before()
    print(text)
  }
  const plain = plainOutput(raw)
  const isTerminal = output.isTTY === true
  return {
    log: printed(plain.log),
    error: printed(plain.error),
    /** Prints lines that are plain already and may have colours. */
    painted: printed((text) => raw.log(text)),
    isTerminal,
    /** The columns to fit in; undefined with --wide, which has everything. Nothing is cut in a pipe. */
    width: isWide ? undefined : isTerminal ? (output.columns ?? USUAL_WIDTH) : Number.POSITIVE_INFINITY,
    paint: paintFor(output, env),
  }
}

const STYLES = { strong: 'bold', dim: 'dim', good: 'green', warn: 'yellow', bad: 'red' } as const

export type Style = keyof typeof STYLES
export type Paint = Record<Style, (text: string) => string>

/** Colours on a terminal, plain text everywhere else. */
export function paintFor(stream: { readonly isTTY?: boolean }, env: Terminal['env'] = process.env): Paint {
  const coloured = hasColours(stream.isTTY, env)
  const paints = Object.entries(STYLES).map(([style, format]) => [
    style,
    (text: string) => (coloured ? styleText(format, text, { validateStream: false }) : text),
  ])
  return Object.fromEntries(paints)
}

/** NO_COLOR of no-color.org, and FORCE_COLOR as Node reads it, which is the stronger one. */
function hasColours(isTTY: boolean | undefined, { FORCE_COLOR, NO_COLOR, TERM }: Terminal['env']): boolean {
  if (FORCE_COLOR !== undefined) return !['0', 'false'].includes(FORCE_COLOR)
  return isTTY === true && !NO_COLOR && TERM !== 'dumb'
}
