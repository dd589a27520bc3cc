import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type Installed = { readonly file: string } | { readonly missing: string }

type Wanted = {
  readonly name: string
  readonly version: string
  /** The folder below that of the machine's temporary files. */
  readonly cache: string
  /** The file that is wanted, below node_modules. */
  readonly file: string
  /** A command that says whether the package works, in its folder node_modules. */
  readonly check: readonly [command: string, ...args: string[]]
  /** The tools that it is compiled with. */
  readonly tools?: readonly string[]
}

/** A package of others, installed once on a machine: it is no dependency of the project. */
export async function installPackage({ name, version, cache, file, check, tools = [] }: Wanted): Promise<Installed> {
  const home = join(tmpdir(), cache)
  const wanted = join(home, 'node_modules', file)
  if (existsSync(wanted)) return { file: wanted }
  for (const tool of tools) {
    const found = await run(tool, ['--version']).catch(() => undefined)
    if (!found) return { missing: `${name} has to be compiled, and there is no ${tool}` }
  }
  const folder = mkdtempSync(`${home}-`)
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ allowScripts: { [name]: true } }))
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${version}`]
    await run('npm', args, { cwd: folder, timeout: 300_000 })
    const [command, ...rest] = check
    await run(command, rest, { cwd: join(folder, 'node_modules'), timeout: 60_000 })
    if (!existsSync(wanted)) renameSync(folder, home)
    return { file: wanted }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    return { missing: `${name} could not be installed: ${String((error as Error).message).split('\n')[0]}` }
  }
}
