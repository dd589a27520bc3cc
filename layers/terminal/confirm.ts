import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { plainText } from '../gateway/domain/basics/plain-text.ts'
import { CliError } from './output.ts'

type Dialogue = { readonly input: Readable & { readonly isTTY?: boolean }; readonly output: Writable }

/** Returns if the change may be made, and throws a CliError if not. A risky one is asked about on every stage. Describes the change only if it has to ask. */
export type Confirm = (describe: () => string | Promise<string>, isRisky?: boolean) => Promise<void>

type Guard = {
  readonly stage: string
  readonly isProtected: boolean
  readonly yes: boolean
  readonly before?: () => void
}

export function confirmer({ stage, isProtected, yes, before }: Guard, dialogue: Dialogue): Confirm {
  return async (describe, isRisky = false) => {
    if (!(isProtected || isRisky) || yes) return
    const change = `This changes the stage ${stage}: ${await describe()}.`
    before?.()
    if (!dialogue.input.isTTY) {
      throw new CliError(`${change} Nobody is at a terminal to be asked, so nothing was changed. Add --yes to go on.`)
    }
    const answer = await ask(dialogue, `${change} Go on? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was changed.')
  }
}

/** The line that was typed; an empty one if the terminal was closed, or Ctrl-C was pressed. */
async function ask({ input, output }: Dialogue, question: string): Promise<string> {
  output.write(plainText(question))
  for await (const line of createInterface({ input, output, terminal: false })) return line
  return ''
}
