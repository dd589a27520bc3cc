import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const QUIETLY = ['--no-audit', '--no-fund', '--loglevel=error']
/** Without a network, npm would try for minutes. */
const SOON = ['--prefer-offline', '--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=1000']
const NO_NETWORK = /\b(E(NOTFOUND|CONNREFUSED|AI_AGAIN|TIMEDOUT|NETUNREACH|HOSTUNREACH)|ENOTCACHED)\b/

/**
 * Makes the package and installs it into the folder, with others beside it, from a lock of its own. Returns the reason if the network does not
 * allow it; a package that cannot be made, or not be installed, is a fault of ours.
 */
export function installPackage(folder: string, beside: readonly string[] = []): { readonly missing?: string } {
  mkdirSync(folder, { recursive: true })
  const packed = npm(ROOT, 'pack', '--json', '--pack-destination', folder)
  if (packed.status !== 0) throw new Error(packed.stderr)
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  for (const args of [
    ['install', '--package-lock-only', `./${archive}`, ...beside],
    ['ci', '--omit=dev'],
  ]) {
    const { status, stderr } = npm(folder, ...args, ...QUIETLY, ...SOON)
    if (status === 0) continue
    if (!NO_NETWORK.test(stderr)) throw new Error(stderr)
    return { missing: `npm cannot install here: ${stderr.split('\n')[0]}` }
  }
  return {}
}

function npm(cwd: string, ...args: string[]): SpawnSyncReturns<string> {
  // The settings of the npm that runs these tests are not those of whoever installs the package.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  return spawnSync('npm', args, { cwd, env, encoding: 'utf8' })
}
