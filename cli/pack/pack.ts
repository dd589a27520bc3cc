import { cpSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { buildConsole } from '../../console/build.ts'
import { usagePage } from '../../console/usage-page/build.ts'
import { bundleFunction, bundleTokenizerLayer } from '../../infra/functions/bundle.ts'
import { COMMAND_LINE } from '../bundle.ts'
import { CONSTRUCT, writeTypes } from './construct.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const OUT = join(ROOT, 'dist', 'package')

/** The parts that are loaded on demand, and the files of the package that have them. */
const PARTS: Readonly<Record<string, string>> = {
  '#console-page': 'console-page.js',
  '#gateway': 'local/run-gateway.js',
  '#infra': 'infra/run-infra.js',
  '#usage-page': 'usage-page.js',
}

/** Programs and threads, by their files, and their sources: they find one another by these addresses. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'local/run-gateway.js': 'local/run-gateway.ts',
  'local/dynamodb/worker.js': 'local/dynamodb/worker.ts',
  'local/tokenizer-worker.js': 'local/tokenizer-worker.ts',
  'infra/app.js': 'infra/app.ts',
  'infra/run-infra.js': 'infra/deploy/run-infra.ts',
}
const FUNCTIONS = readdirSync(join(ROOT, 'functions')).filter((name) =>
  existsSync(join(ROOT, 'functions', name, 'handler.ts')),
)
/** The folder is as deep as a clone's, because source maps have relative paths: a stage has the same code from a clone and from the package. */
const BUNDLES = join(ROOT, 'dist', 'bundles')

const DEFINED = { WAYBILL_PACKAGE: 'true' }

/** Node strips no types of files in node_modules, so a package has JavaScript, made of the same sources. */
async function pack(): Promise<void> {
  for (const old of [OUT, BUNDLES]) rmSync(old, { recursive: true, force: true })
  await bundle('waybill.cjs', COMMAND_LINE)
  for (const [file, source] of Object.entries(PROGRAMS)) {
    await bundle(file, {
      ...COMMAND_LINE,
      entryPoints: [source],
      format: 'esm',
      // npm installs them, so that an audit sees them and a mended version can take their place.
      packages: 'external',
    })
  }
  await bundle('cdk/index.js', CONSTRUCT)
  writeTypes(join(OUT, 'cdk'))
  cpSync(join(ROOT, 'local/catalog.json'), join(OUT, 'local/catalog.json'))
  for (const name of FUNCTIONS) bundleFunction(name, BUNDLES)
  bundleTokenizerLayer(BUNDLES)
  renameSync(BUNDLES, join(OUT, 'bundles'))
  await writePages()
}

async function bundle(outfile: string, options: BuildOptions): Promise<void> {
  const up = posix.relative(posix.dirname(outfile), '.') || '.'
  await build({
    ...options,
    outfile: join(OUT, outfile),
    define: { ...options.define, ...DEFINED },
    plugins: [partsAt(up)],
    minifySyntax: true,
  })
}

/** A part is a file of the package, and our other short names are files of the bundle. */
function partsAt(up: string): Plugin {
  return {
    name: 'parts',
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^#/ }, ({ path, kind, pluginData }) => {
        if (pluginData === 'seen') return undefined
        const part = PARTS[path]
        if (part) return { path: `${up}/${part}`, external: true }
        // The bundles are in the package already.
        if (path === '#bundles') return { path: join(ROOT, 'infra/functions/prebuilt.ts') }
        return resolve(path, { kind, resolveDir: ROOT, pluginData: 'seen' })
      })
    },
  }
}

async function writePages(): Promise<void> {
  const files = await buildConsole({ define: DEFINED })
  const texts = files.map(({ body, ...file }) => ({ ...file, body: Buffer.from(body).toString() }))
  const built = 'async () => files.map((file) => ({ ...file, body: Buffer.from(file.body) }))'
  const script = `const files = ${JSON.stringify(texts)}\nexport const buildConsole = ${built}\n`
  writeFileSync(join(OUT, 'console-page.js'), script)
  const page = `const page = ${JSON.stringify(usagePage())}\nexport const usagePage = () => page\n`
  writeFileSync(join(OUT, 'usage-page.js'), page)
}

await pack()
