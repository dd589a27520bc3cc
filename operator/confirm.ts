import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { CliError } from './cli-error.ts'

type Terminal = { readonly input: Readable & { readonly isTTY?: boolean }; readonly output: Writable }

/** Returns if the change may be made, and throws a CliError if not. Says what the change is only if it has to ask. */
export type Confirm = (describe: () => string | Promise<string>) => Promise<void>

type Guard = { readonly stage: string; readonly isProtected: boolean; readonly yes: boolean }

export function confirmer({ stage, isProtected, yes }: Guard, terminal: Terminal): Confirm {
  return async (describe) => {
    if (!isProtected || yes) return
    const change = `This changes the stage ${stage}: ${await describe()}.`
    if (!terminal.input.isTTY) {
      throw new CliError(`${change} Nobody is at a terminal to be asked, so nothing was changed. Add --yes to go on.`)
    }
    const answer = await ask(terminal, `${change} Go on? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was changed.')
  }
}

/** The line that was typed; an empty one if the terminal was closed, or Ctrl-C was pressed. */
function ask(terminal: Terminal, question: string): Promise<string> {
  return new Promise((resolve) => {
    const line = createInterface({ input: terminal.input, output: terminal.output, terminal: false })
    line.once('close', () => resolve(''))
    line.once('line', (text) => {
      resolve(text)
      line.close()
    })
    terminal.output.write(question)
  })
}
