import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'
import { COMMAND_LINE } from '../bundle.ts'
import { settingsType } from './settings-type.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const HERE = fileURLToPath(new URL('.', import.meta.url))
const DRAFT = join(ROOT, 'dist', 'types')

/** `waybill/cdk`: CommonJS, which both kinds of apps can load, for each Node that the CDK takes. */
export const CONSTRUCT: BuildOptions = {
  ...COMMAND_LINE,
  entryPoints: ['infra/waybill.ts'],
  target: 'node20',
  // A refused property is shown with the line that refused it.
  minifyWhitespace: false,
  // The app's own CDK, so that there is only one.
  packages: 'external',
  define: { 'import.meta.url': 'MODULE_URL' },
  banner: { js: "const MODULE_URL = require('node:url').pathToFileURL(__filename).href" },
}

/** The declarations of its class and its properties, which import nothing else of ours. */
const TYPES = { 'index.d.ts': 'waybill.d.ts', 'props.d.ts': 'props.d.ts' }

/** The lines by which the properties have the type of the settings. */
const SETTINGS = /^import type \{ Settings \} from .*\n+export type \{ Settings \};\n/m

/** In a folder whose files are CommonJS, though those of the package are not. */
export function writeTypes(folder: string): void {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '--project', HERE, '--outDir', DRAFT], { stdio: 'inherit' })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ type: 'commonjs' })}\n`)
  for (const [file, draft] of Object.entries(TYPES)) {
    const text = readFileSync(join(DRAFT, 'infra', draft), 'utf8')
      .replace(SETTINGS, settingsType)
      .replaceAll(/(from '\.\/\w+)\.ts'/g, "$1.js'")
    writeFileSync(join(folder, file), text)
  }
  rmSync(DRAFT, { recursive: true })
}
