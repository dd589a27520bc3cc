import { Console } from 'node:console'
import type { Readable, Writable } from 'node:stream'

/** Where a command is typed: what it reads from and prints to, and the folder in which it was started. */
export type Terminal = {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable
  readonly errors: Writable
  readonly folder: string
}

export function thisTerminal(): Terminal {
  return { input: process.stdin, output: process.stdout, errors: process.stderr, folder: process.cwd() }
}

/** Prints lines. A reader that has left, such as `head`, is no error. */
export function consoleOf({ output, errors }: Terminal): Console {
  return new Console({ stdout: output, stderr: errors })
}
