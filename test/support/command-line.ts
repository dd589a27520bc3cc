import { PassThrough, Writable } from 'node:stream'
import type { OpenAdmin } from '../../cli/commands/open-session.ts'
import { main } from '../../cli/main.ts'
import type { Terminal } from '../../layers/terminal/terminal.ts'
import type { Ended } from './processes.ts'

type Program = (terminal: Omit<Terminal, 'folder'>) => Promise<number>

/**
 * Runs a command in this process and returns what it printed. The SDK looks for its settings in the environment, which a
 * process has only one of, so one command runs at a time.
 */
export function runHere(program: Program, env: Record<string, string> = {}, columns?: number): Promise<Ended> {
  const turn = last.then(() => runIn(program, env, columns))
  last = turn.catch(() => {})
  return turn
}
let last: Promise<unknown> = Promise.resolve()

/** Runs the command line of operators; with `openAdmin`, it asks an admin API by that. */
export function waybill(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
  openAdmin?: OpenAdmin,
): Promise<Ended> {
  return runHere((terminal) => main(args, { ...terminal, folder }, openAdmin), env)
}

/** The same on a terminal of so many columns. */
export function waybillOnTerminal(
  folder: string,
  args: readonly string[],
  columns: number,
  env: Record<string, string> = {},
): Promise<Ended> {
  return runHere((terminal) => main(args, { ...terminal, folder }), env, columns)
}

/** No gateway that a person has chosen on this machine. */
const CONFIG = { XDG_CONFIG_HOME: '/nonexistent' }

async function runIn(program: Program, env: Record<string, string>, columns?: number): Promise<Ended> {
  const before = { ...process.env }
  Object.assign(process.env, env)
  const input = new PassThrough()
  const [output, errors] = [textStream(columns), textStream(columns)]
  try {
    const streams = { input, output: output.stream, errors: errors.stream }
    const code = await program({ ...streams, env: { ...CONFIG, ...env } })
    return { code, stdout: output.text(), stderr: errors.text() }
  } finally {
    for (const name of Object.keys(env)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
}

function textStream(columns?: number) {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk)
      done()
    },
  })
  if (columns !== undefined) Object.assign(stream, { isTTY: true, columns })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}
