import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = join(ROOT, 'dist')

/** One file with all packages, because it starts sooner; CommonJS does, too. */
export const COMMAND_LINE = {
  absWorkingDir: ROOT,
  entryPoints: ['cli/waybill.ts'],
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  mainFields: ['module', 'main'],
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions

/** The command line's file, a list of its sources, by which `waybill.js` knows if it is stale. */
export async function bundleCommandLine(startedMs = Date.now()): Promise<void> {
  mkdirSync(DIST, { recursive: true })
  const { outputFiles, metafile } = await build({
    ...COMMAND_LINE,
    outfile: 'dist/waybill.cjs',
    write: false,
    metafile: true,
    // These are run from their sources.
    external: ['#console-page', '#gateway', '#infra'],
  })
  const ours = Object.keys(metafile.inputs).filter((file) => !file.startsWith('node_modules/'))
  replace('waybill.cjs', outputFiles[0]?.text ?? '')
  // The lock in node_modules is written by npm whenever it installs packages.
  replace('sources.json', JSON.stringify(timesOf([...ours, 'node_modules/.package-lock.json'], startedMs)))
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
