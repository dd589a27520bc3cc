import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A program of others, installed once on a machine: it is no dependency of the project. */
export async function installClient(
  name: string,
  version: string,
  command: string,
): Promise<{ file: string } | { missing: string }> {
  const cache = join(tmpdir(), `waybill-client-${command}-${version}`)
  const file = join(cache, 'node_modules', '.bin', command)
  if (existsSync(file)) return { file }
  const folder = mkdtempSync(`${cache}-`)
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ allowScripts: { [name]: true } }))
    await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${version}`], {
      cwd: folder,
      timeout: 300_000,
    })
    await run(join(folder, 'node_modules', '.bin', command), ['--version'], { timeout: 60_000 })
    if (!existsSync(file)) renameSync(folder, cache)
    return { file }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    return { missing: `${name} could not be installed: ${String((error as Error).message).split('\n')[0]}` }
  }
}
