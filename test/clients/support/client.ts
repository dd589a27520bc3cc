import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installPackage } from './install-package.ts'

type Place = { readonly cwd: string; readonly env: NodeJS.ProcessEnv }
type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string }
export type Run = (args: readonly string[], place: Place) => Promise<Ended>

/** The newest version of a package. Undefined if npm or its registry does not respond. */
export async function newestOf(name: string): Promise<string | undefined> {
  const asked = promisify(execFile)('npm', ['view', name, 'dist-tags.latest'], { timeout: 30_000 })
  return asked.then(({ stdout }) => stdout.trim() || undefined).catch(() => undefined)
}

/** Runs a program of others to its end, with nobody at its input. None if it cannot be installed here. */
export async function openClient(name: string, version: string, command: string): Promise<Run | undefined> {
  const file = `.bin/${command}`
  const cache = `waybill-client-${command}-${version}`
  const client = await installPackage({ name, version, cache, file, check: [`./${file}`, '--version'] })
  if ('missing' in client) {
    process.stderr.write(`Not tested with ${command}: ${client.missing}.\n`)
    return undefined
  }
  return (args, place) =>
    new Promise((resolve) => {
      const child = execFile(client.file, args, { ...place, timeout: 90_000 }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
      )
      child.stdin?.end()
    })
}
