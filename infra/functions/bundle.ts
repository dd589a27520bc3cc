import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'
import { builtPages } from '../../console/usage-page/build.ts'
import manifest from '../../package.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const OUT = join(ROOT, 'cdk.out', 'bundles')

type Part = keyof typeof manifest.imports
const sourceOf = (name: Part) => join(ROOT, manifest.imports[name])

/** Parts that a function loads lazily, each from a file of its name beside the function's own. */
const LAZY: Readonly<Record<string, readonly Part[]>> = {
  chat: ['#on-demand', '#advice', '#answers', '#contracts', '#dialects', '#error-reply', '#bedrock'],
  api: ['#on-demand', '#advice', '#contracts', '#dialects', '#openapi', '#quote'],
}
/** The first page and that for the owners of keys, built, as a module beside the api's own. */
const USAGE_PAGE = '#usage-page'
const fileOf = (name: string) => `./${name.slice(1)}.js`
const LAZY_FILES = Object.fromEntries([...Object.values(LAZY).flat(), USAGE_PAGE].map((name) => [name, fileOf(name)]))

/** A package of the tokenizer's layer, which is in Lambda's NODE_PATH. */
const TOKENIZER = { name: 'waybill-tokenizer', entry: sourceOf('#tokenizer') }

/** The entries with AWS's own client in them. */
const WITH_SDK = [sourceOf('#bedrock'), join(ROOT, 'functions', 'admin', 'handler.ts')]

/** Node's web streams would take a third of the time in which chat loads. */
const NO_WEB_STREAMS = join(ROOT, 'infra', 'functions', 'no-web-streams.ts')

// CommonJS starts about 50 ms sooner than ESM.
const COMMON: BuildOptions = {
  bundle: true,
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  mainFields: ['module', 'main'],
  // A file beside the function's own is found by require(), not by import().
  supported: { 'dynamic-import': false },
  logLevel: 'warning',
}

export function bundleFunction(name: string, out = OUT): string {
  const folder = join(out, 'functions', name)
  for (const lazy of LAZY[name] ?? []) bundleFile(folder, sourceOf(lazy), fileOf(lazy))
  if (name === 'api') {
    const contents = `export const builtPages = () => (${JSON.stringify(builtPages())})`
    bundle(folder, { stdin: { contents }, outfile: fileOf(USAGE_PAGE), sourcemap: false })
  }
  return bundleFile(folder, join(ROOT, 'functions', name, 'handler.ts'), 'index.js')
}

/** The tokenizer with its ranks, apart from the code: a deployment of new code does not carry it. */
export function bundleTokenizerLayer(out = OUT): string {
  const outfile = join('nodejs', 'node_modules', `${TOKENIZER.name}.js`)
  // There is no map: its paths would change the layer with the place where it was made.
  return bundle(join(out, 'layers', 'tokenizer'), { entryPoints: [TOKENIZER.entry], outfile, sourcemap: false })
}

/** AWS's own client needs modules that our bundles leave out. */
function bundleFile(folder: string, entry: string, outfile: string): string {
  const ours = { ...LAZY_FILES, '#tokenizer': TOKENIZER.name, 'node:stream/web': NO_WEB_STREAMS }
  return bundle(folder, {
    entryPoints: [entry],
    alias: WITH_SDK.includes(entry) ? {} : ours,
    external: [...Object.values(LAZY_FILES), TOKENIZER.name],
    outfile,
  })
}

/** The files that this process has written: an app may have several stacks with the same code. */
const written = new Set<string>()

/** Every file is renamed into place, because another synth may be reading the same folder at this moment. */
function bundle(folder: string, { outfile = 'index.js', ...options }: BuildOptions): string {
  const file = join(folder, outfile)
  if (written.has(file)) return folder
  mkdirSync(dirname(file), { recursive: true })
  // Files of the same folder refer to each other by relative paths.
  const { outputFiles } = buildSync({ ...COMMON, ...options, absWorkingDir: folder, outfile: file, write: false })
  for (const { path: place, contents } of outputFiles) {
    const draft = join(folder, '..', randomUUID())
    writeFileSync(draft, contents)
    renameSync(draft, place)
  }
  written.add(file)
  return folder
}
