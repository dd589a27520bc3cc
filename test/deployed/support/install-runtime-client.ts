import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const VERSION = '4.0.2'
const CACHE = join(tmpdir(), `waybill-ric-${VERSION}`)
const NEEDED = ['c++', 'make', 'cmake', 'python3']

const run = promisify(execFile)

/**
 * AWS's own runtime client, the code between Lambda and a handler. It is compiled where it is installed, which takes a
 * minute and happens once on a machine: it is no dependency of the project.
 */
export async function installRuntimeClient(): Promise<{ file: string } | { missing: string }> {
  const file = join(CACHE, 'node_modules', 'aws-lambda-ric', 'index.mjs')
  if (existsSync(file)) return { file }
  if (process.platform !== 'linux')
    return { missing: `aws-lambda-ric builds on Linux only, not on ${process.platform}` }
  for (const tool of NEEDED) {
    const found = await run(tool, ['--version']).catch(() => undefined)
    if (!found) return { missing: `aws-lambda-ric has to be compiled, and there is no ${tool}` }
  }
  const folder = mkdtempSync(`${CACHE}-`)
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ allowScripts: { 'aws-lambda-ric': true } }))
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `aws-lambda-ric@${VERSION}`]
    await run('npm', args, { cwd: folder, timeout: 300_000 })
    await run('test', ['-f', join(folder, 'node_modules', 'aws-lambda-ric', 'rapid-client.node')])
    if (!existsSync(file)) renameSync(folder, CACHE)
    return { file }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    return { missing: `aws-lambda-ric could not be installed: ${String((error as Error).message).split('\n')[0]}` }
  }
}
