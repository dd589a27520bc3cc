import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'
import { usagePage } from '../../console/usage-page/build.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const OUT = join(ROOT, 'cdk.out', 'bundles')

const GATEWAY = join(ROOT, 'layers', 'gateway')

/** Parts that a function loads lazily, and the files beside its own that have them. AWS's SDK is the lockfile's. */
const LAZY = {
  '#advice': { file: './advice.js', entry: join(GATEWAY, 'wire', 'requests', 'advice.ts') },
  '#bedrock': { file: './bedrock.js', entry: join(GATEWAY, 'providers', 'bedrock', 'bedrock-sdk.ts') },
  '#contracts': { file: './contracts.js', entry: join(GATEWAY, 'contracts', 'lazy-contracts.ts') },
  '#dialects': { file: './dialects.js', entry: join(GATEWAY, 'providers', 'lazy-dialects.ts') },
  '#openapi': { file: './openapi.js', entry: join(ROOT, 'functions', 'api', 'openapi.ts') },
  '#quote': { file: './quote.js', entry: join(ROOT, 'functions', 'api', 'answer-quote.ts') },
}
/** The page for the owners of keys, built, as a module beside the api's own. */
const USAGE_PAGE = { name: '#usage-page', file: './usage-page.js' }
const LAZY_FILES = [...Object.values(LAZY).map(({ file }) => file), USAGE_PAGE.file]

/** A package of the tokenizer's layer, which is in Lambda's NODE_PATH. */
const TOKENIZER = { name: 'waybill-tokenizer', entry: join(ROOT, 'layers', 'tokenizer', 'answer-question.ts') }

/** The entries with AWS's own client in them. */
const WITH_SDK = [LAZY['#bedrock'].entry, join(ROOT, 'functions', 'admin', 'handler.ts')]

/** Node's web streams would take a third of the time in which chat loads. */
const WEB_STREAMS = 'node:stream/web'
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
  for (const { entry, file } of lazyOf(name)) bundleFile(folder, entry, file)
  if (name === 'api') bundleUsagePage(folder)
  return bundleFile(folder, join(ROOT, 'functions', name, 'handler.ts'), 'index.js')
}

function bundleUsagePage(folder: string): void {
  const contents = `export const usagePage = () => (${JSON.stringify(usagePage())})`
  bundle(folder, { stdin: { contents }, outfile: USAGE_PAGE.file, sourcemap: false })
}

/** The tokenizer with its ranks, apart from the code: a deployment of new code does not carry it. */
export function bundleTokenizerLayer(out = OUT): string {
  const outfile = join('nodejs', 'node_modules', `${TOKENIZER.name}.js`)
  // Without a map, whose paths would change the layer with the place where it was made.
  return bundle(join(out, 'layers', 'tokenizer'), { entryPoints: [TOKENIZER.entry], outfile, sourcemap: false })
}

/** A quote reads requests as chat does, and asks no model; the api has the document of them all. */
function lazyOf(name: string) {
  const { '#bedrock': bedrock, '#openapi': openapi, '#quote': quote, ...both } = LAZY
  if (name === 'chat') return [...Object.values(both), bedrock]
  return name === 'api' ? [...Object.values(both), openapi, quote] : []
}

/** AWS's own client needs modules that our bundles leave out. */
function bundleFile(folder: string, entry: string, outfile: string): string {
  const lazy = Object.fromEntries(Object.entries(LAZY).map(([name, { file }]) => [name, file]))
  const isSdk = WITH_SDK.includes(entry)
  return bundle(folder, {
    entryPoints: [entry],
    alias: isSdk
      ? {}
      : { ...lazy, [USAGE_PAGE.name]: USAGE_PAGE.file, '#tokenizer': TOKENIZER.name, [WEB_STREAMS]: NO_WEB_STREAMS },
    external: [...LAZY_FILES, TOKENIZER.name],
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
