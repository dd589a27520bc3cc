#!/usr/bin/env node
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isPackage } from './which-node.cjs'

const PACKED = new URL('dist/package/waybill.cjs', import.meta.url)
const BUNDLE = new URL('dist/waybill.cjs', import.meta.url)
const SOURCES = new URL('dist/sources.json', import.meta.url)

// An import() of CommonJS would look for its exports in all of its text.
const require = createRequire(import.meta.url)
require('./require-node.cjs')
if (isPackage) require(fileURLToPath(PACKED))
else if (isFresh() || (await isBuilt())) require(fileURLToPath(BUNDLE))
else await import('./cli/waybill.ts')

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
