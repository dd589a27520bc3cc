import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUT = join(ROOT, 'cdk.out', 'bundles')

// CommonJS starts about 50 ms sooner than ESM. The AWS SDK that ships is the lockfile's.
const COMMON: BuildOptions = {
  bundle: true,
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  mainFields: ['module', 'main'],
  logLevel: 'warning',
}

/** The folder with a function's code. */
export function bundleFunction(name: string): string {
  return bundle(join('functions', name), {
    entryPoints: [join(ROOT, 'functions', name, 'handler.ts')],
    outfile: 'index.js',
  })
}

/** The folders that this process has written: an app may have several stacks of the same code. */
const written = new Set<string>()

/** Every file is put in place whole, because another synth may be reading the same folder at this moment. */
function bundle(folder: string, { outfile = 'index.js', ...options }: BuildOptions): string {
  const path = join(OUT, folder)
  if (written.has(path)) return path
  const { outputFiles } = buildSync({ ...COMMON, ...options, outfile: join(path, outfile), write: false })
  for (const file of outputFiles) {
    const draft = join(OUT, randomUUID())
    mkdirSync(dirname(file.path), { recursive: true })
    writeFileSync(draft, file.contents)
    renameSync(draft, file.path)
  }
  written.add(path)
  return path
}
