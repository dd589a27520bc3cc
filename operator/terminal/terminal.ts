import { Console } from 'node:console'
import type { Readable, Writable } from 'node:stream'
import { type Output, plainOutput } from '../../layers/gateway/domain/plain-text.ts'

/** The terminal of a command: its input and output, and the folder in which it was started. */
export type Terminal = {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable
  readonly errors: Writable
  readonly folder: string
}

export function thisTerminal(): Terminal {
  return { input: process.stdin, output: process.stdout, errors: process.stderr, folder: process.cwd() }
}

/** Prints lines of plain text. A reader that has left, such as `head`, is no error. */
export function outputOf({ output, errors }: Terminal): Output {
  return plainOutput(new Console({ stdout: output, stderr: errors }))
}
