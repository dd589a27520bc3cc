import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { buildConsole } from '../../console/build.ts'
import { builtPages } from '../../console/usage-page/build.ts'
import { PEERS } from '../../infra/deploy/run-infra.ts'
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
/** The folder is as deep as a clone's, because source maps have relative paths: a stage has the same code from a clone and from the package. */
const BUNDLES = join(ROOT, 'dist', 'bundles')

/** For packages of CommonJS in a bundle of ESM. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)"

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
      banner: { js: REQUIRE },
      // An app has its own CDK, and only one.
      external: [...PEERS, 'aws-cdk-lib/*'],
    })
  }
  await bundle('cdk/index.js', CONSTRUCT)
  writeTypes(join(OUT, 'cdk'))
  cpSync(join(ROOT, 'local/catalog.json'), join(OUT, 'local/catalog.json'))
  for (const name of readdirSync(join(ROOT, 'functions'))) {
    if (existsSync(join(ROOT, 'functions', name, 'handler.ts'))) bundleFunction(name, BUNDLES)
  }
  bundleTokenizerLayer(BUNDLES)
  renameSync(BUNDLES, join(OUT, 'bundles'))
  await writePages()
  writeLicenses()
}

async function bundle(outfile: string, options: BuildOptions): Promise<void> {
  const { metafile } = await build({
    ...options,
    outfile: join(OUT, outfile),
    define: { ...options.define, ...DEFINED },
    plugins: [partsAt(posix.relative(posix.dirname(outfile), '.') || '.')],
    minifySyntax: true,
    metafile: true,
  })
  for (const file of Object.keys(metafile.inputs)) {
    const [folder] = /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file) ?? []
    if (folder) libraries.add(folder)
  }
}

/** The folders of the packages whose code is within the files. */
const libraries = new Set(['node_modules/preact'])

function writeLicenses(): void {
  const texts = [...libraries].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
    const file = readdirSync(join(ROOT, folder)).find((one) => /^licen[cs]e/i.test(one))
    return `${name} ${version} (${license})\n\n${file ? readFileSync(join(ROOT, folder, file), 'utf8') : ''}`
  })
  writeFileSync(join(OUT, 'LICENSES.txt'), texts.join('\n\n'))
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
  const page = `const pages = ${JSON.stringify(builtPages())}\nexport const builtPages = () => pages\n`
  writeFileSync(join(OUT, 'usage-page.js'), page)
}

await pack()
