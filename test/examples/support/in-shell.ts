import { spawn } from 'node:child_process'
import { afterAll } from '@jest/globals'
import type { Ended } from '../../support/processes.ts'

export type Shell = { readonly output: () => string; readonly ended: Promise<Ended>; readonly end: () => void }

const open: Shell[] = []
afterAll(async () => {
  for (const shell of open) shell.end()
  await Promise.all(open.map(({ ended }) => ended))
})

/** A command as a person would paste it. Its children are ended with it. */
export function inShell(command: string, cwd: string, env: Record<string, string> = {}): Shell {
  const child = spawn('sh', ['-c', command], { cwd, env: { ...process.env, FORCE_COLOR: '0', ...env }, detached: true })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
  const end = () => {
    if (child.exitCode === null && child.signalCode === null && child.pid) process.kill(-child.pid, 'SIGTERM')
  }
  const shell = { output: () => stdout, ended, end }
  open.push(shell)
  return shell
}
