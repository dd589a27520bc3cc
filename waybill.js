#!/usr/bin/env node
import './require-node.cjs'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const BUNDLE = new URL('dist/waybill.cjs', import.meta.url)
const SOURCES = new URL('dist/sources.json', import.meta.url)

// An import() of CommonJS would look for its exports in all of its text.
if (isFresh() || (await isBuilt())) createRequire(import.meta.url)(fileURLToPath(BUNDLE))
else await import('./operator/waybill.ts')

/** True if every source is the one that the bundle was made of. A package has a bundle and no sources. */
function isFresh() {
  if (!existsSync(BUNDLE) || !existsSync(SOURCES)) return existsSync(BUNDLE)
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
    const { bundleCommandLine } = await import('./operator/bundle.ts')
    await bundleCommandLine()
    return true
  } catch {
    return false
  }
}
