import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = join(ROOT, 'dist')
/** Written by npm whenever it installs packages. */
const PACKAGES = 'node_modules/.package-lock.json'

/** One file of the command line with all packages, and a list of its sources, by which `waybill.js` knows if it is stale. */
export async function bundleCommandLine(startedMs = Date.now()): Promise<void> {
  mkdirSync(DIST, { recursive: true })
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['operator/waybill.ts'],
    outfile: 'dist/waybill.cjs',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node24',
    // CommonJS starts sooner than ESM.
    format: 'cjs',
    mainFields: ['module', 'main'],
    // The console's page is made of its own sources.
    external: ['#console-page'],
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
  })
  const ours = Object.keys(metafile.inputs).filter((file) => !file.startsWith('node_modules/'))
  replace('waybill.cjs', outputFiles[0]?.text ?? '')
  replace('sources.json', JSON.stringify(timesOf([...ours, PACKAGES], startedMs)))
}

/** A source that was saved during the build counts as another one, because the bundle may have the older text. */
function timesOf(files: readonly string[], startedMs: number): Record<string, number> {
  const times = files.map((file) => {
    const savedMs = statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
    return [file, savedMs < startedMs ? savedMs : 0]
  })
  return Object.fromEntries(times)
}

/** Two commands may build at the same time, and neither may read half a file. */
function replace(name: string, content: string): void {
  const written = join(DIST, `${name}.${process.pid}`)
  writeFileSync(written, content)
  renameSync(written, join(DIST, name))
}
