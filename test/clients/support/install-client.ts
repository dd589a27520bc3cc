import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from '@jest/globals'
import type { Key } from '../../../layers/gateway/domain/keys/key.ts'
import type { UsageRow } from '../../../layers/gateway/domain/rows/usage-row.ts'
import { queryUsageRows } from '../../../layers/gateway/store/rows/usage-rows.ts'
import { booksBalance, type TestGateway } from '../../support/gateway.ts'

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

type Place = { readonly cwd: string; readonly env: NodeJS.ProcessEnv }
type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs the program to its end, with nobody at its input. */
export function runClient(file: string, args: readonly string[], place: Place): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { ...place, timeout: 90_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
    child.stdin?.end()
  })
}

/** The rows of a key whose books are right, with no request under way. */
export async function closedBooks(gateway: TestGateway, { id, createdAtMs }: Key): Promise<UsageRow[]> {
  const { holds, ...key } = await gateway.readKey(id)
  expect({ balance: booksBalance({ holds, ...key }), holds }).toEqual({ balance: true, holds: {} })
  const range = { fromMs: createdAtMs, toMs: Date.now() + 60_000 }
  return Array.fromAsync(queryUsageRows(gateway.tables)(id, range))
}
