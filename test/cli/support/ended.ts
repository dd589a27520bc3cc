import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** A program that runs beside this process, which may have to answer it. */
export async function ended(program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('exit', resolve)),
  ])
  return { code, stdout, stderr }
}
