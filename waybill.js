#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { broughtNode, isOld, isPackage } from './which-node.cjs'

const PACKED = new URL('dist/package/waybill.cjs', import.meta.url)
const BUNDLE = new URL('dist/waybill.cjs', import.meta.url)
const SOURCES = new URL('dist/sources.json', import.meta.url)

// An import() of CommonJS would look for its exports in all of its text.
const require = createRequire(import.meta.url)
const newer = isOld ? broughtNode() : undefined
if (newer) runBy(newer)
else await run()

/** Started by its path, globally, or by pnpm or yarn, this runs on the Node of the PATH, not on the one that the package brings. */
function runBy(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal interrupts both.
    process.on(signal, () => (hasTerminal && signal !== 'SIGTERM') || child.kill(signal))
  }
  // Made for another machine, for example. Then this Node says that it is too old.
  child.once('error', run)
  child.once('close', (code, signal) => {
    if (!signal) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

async function run() {
  require('./require-node.cjs')
  if (isPackage) require(fileURLToPath(PACKED))
  else if (isFresh() || (await isBuilt())) require(fileURLToPath(BUNDLE))
  else await import('./cli/waybill.ts')
}

/** True if every source is the one that the bundle was made of. */
function isFresh() {
  if (!existsSync(BUNDLE) || !existsSync(SOURCES)) return false
  const sources = Object.entries(JSON.parse(readFileSync(SOURCES, 'utf8')))
  return sources.every(([file, savedMs]) => {
    const source = statSync(new URL(file, import.meta.url), { throwIfNoEntry: false })
    return (source?.mtimeMs ?? 0) === savedMs
  })
}

/** False if there is no room for a bundle, as in a folder that cannot be written. */
async function isBuilt() {
  try {
    // Loaded only now, because an older Node cannot read it.
    const { bundleCommandLine } = await import('./cli/bundle.ts')
    await bundleCommandLine()
    return true
  } catch {
    return false
  }
}
