import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** A command, and what its process printed when. */
export type Recording = {
  readonly command: string
  readonly printed: readonly { readonly atMs: number; readonly text: string }[]
}

export type Surroundings = { readonly folder: string; readonly env?: Readonly<Record<string, string>> }

/** How commands begin, and the file that each runs. */
const FILES = {
  'npm start': '../../../local/main.ts',
  waybill: '../../../cli/waybill.ts',
  'node race.ts': './race.ts',
}

export function startProcess(
  command: string,
  { folder, env }: Surroundings,
): ChildProcessByStdio<null, Readable, null> {
  const [name = '', file = ''] = Object.entries(FILES).find(([begin]) => command.startsWith(begin)) ?? []
  const args = command.slice(name.length).split(' ').filter(Boolean)
  return spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Runs a command to its end. */
export async function record(command: string, surroundings: Surroundings): Promise<Recording> {
  const start = performance.now()
  const printed: { atMs: number; text: string }[] = []
  const child = startProcess(command, surroundings)
  child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push({ atMs: performance.now() - start, text }))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command}: ended with ${code}.`)
  return { command, printed }
}

export function textOf({ printed }: Recording): string {
  return printed.map(({ text }) => text).join('')
}
