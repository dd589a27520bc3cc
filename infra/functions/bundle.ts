import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'
import { API_FUNCTION_NAMES } from '../../layers/gateway/endpoints.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const OUT = join(ROOT, 'cdk.out', 'bundles')

const GATEWAY = join(ROOT, 'layers', 'gateway')

/** Parts that a function asks for when they are needed, and the files beside its own that have them. AWS's SDK is the lockfile's. */
const LATE = {
  '#advice': { file: './advice.js', entry: join(GATEWAY, 'wire', 'advice.ts') },
  '#bedrock': { file: './bedrock.js', entry: join(GATEWAY, 'providers', 'bedrock', 'bedrock-sdk.ts') },
  '#contracts': { file: './contracts.js', entry: join(GATEWAY, 'contracts', 'more-contracts.ts') },
  '#dialects': { file: './dialects.js', entry: join(GATEWAY, 'providers', 'more-dialects.ts') },
}
const LATE_FILES = Object.values(LATE).map(({ file }) => file)

/** The entries with AWS's own client in them. */
const WITH_SDK = [LATE['#bedrock'].entry, join(ROOT, 'functions', 'admin', 'handler.ts')]

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

/** The folder with a function's code. */
export function bundleFunction(name: string): string {
  const folder = join('functions', name)
  for (const { entry, file } of lateOf(name)) bundleFile(folder, entry, file)
  return bundleFile(folder, join(ROOT, 'functions', name, 'handler.ts'), 'index.js')
}

/** Every function that answers callers explains its refusals; the other parts are chat's. */
function lateOf(name: string) {
  if (name === 'chat') return Object.values(LATE)
  return API_FUNCTION_NAMES.some((other) => other === name) ? [LATE['#advice']] : []
}

/** AWS's own client needs what ours leaves out. */
function bundleFile(folder: string, entry: string, outfile: string): string {
  const late = Object.fromEntries(Object.entries(LATE).map(([name, { file }]) => [name, file]))
  const isSdk = WITH_SDK.includes(entry)
  return bundle(folder, {
    entryPoints: [entry],
    alias: isSdk ? {} : { ...late, [WEB_STREAMS]: NO_WEB_STREAMS },
    external: LATE_FILES,
    outfile,
  })
}

/** The files that this process has written: an app may have several stacks of the same code. */
const written = new Set<string>()

/** Every file is put in place whole, because another synth may be reading the same folder at this moment. */
function bundle(folder: string, { outfile = 'index.js', ...options }: BuildOptions): string {
  const path = join(OUT, folder)
  const file = join(path, outfile)
  if (written.has(file)) return path
  mkdirSync(path, { recursive: true })
  // Files of the same folder name each other as they are seen from there.
  const { outputFiles } = buildSync({ ...COMMON, ...options, absWorkingDir: path, outfile: file, write: false })
  for (const { path: place, contents } of outputFiles) {
    const draft = join(OUT, randomUUID())
    writeFileSync(draft, contents)
    renameSync(draft, place)
  }
  written.add(file)
  return path
}
