import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'
import { z } from 'zod'
import { PEERS } from '../../infra/deploy/run-infra.ts'
import { SETTING_NAMES, settingRow } from '../../infra/setting-table.ts'
import { COMMAND_LINE } from '../bundle.ts'

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
  external: [...PEERS, 'aws-cdk-lib/*'],
  define: { 'import.meta.url': 'MODULE_URL' },
  banner: { js: "const MODULE_URL = require('node:url').pathToFileURL(__filename).href" },
}

/** In a folder whose files are CommonJS, though those of the package are not. */
export function writeTypes(folder: string): void {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '--project', HERE, '--outDir', DRAFT], { stdio: 'inherit' })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ type: 'commonjs' })}\n`)
  // The declarations of its class and its properties import nothing else of ours.
  for (const [file, draft] of Object.entries({ 'index.d.ts': 'waybill.d.ts', 'props.d.ts': 'props.d.ts' })) {
    const text = readFileSync(join(DRAFT, 'infra', draft), 'utf8')
      .replace(/^import type \{ Settings \} from .*\n+export type \{ Settings \};\n/m, settingsType)
      .replaceAll(/(from '\.\/\w+)\.ts'/g, "$1.js'")
    writeFileSync(join(folder, file), text)
  }
  rmSync(DRAFT, { recursive: true })
}

type Schema = z.core.JSONSchema.BaseSchema

/** The settings as an interface with their words: who installs the construct gets no types of zod. */
function settingsType(): string {
  const members = SETTING_NAMES.map((name) => {
    const { schema, words } = settingRow(name)
    const isOptional = schema.safeParse(undefined).success
    return `    /** ${words.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')} */\n    ${memberOf(name, z.toJSONSchema(schema), isOptional)};`
  })
  return `/** The operator's settings. docs/deploy.md has their defaults. */\nexport interface Settings {\n${members.join('\n')}\n}\n`
}

function memberOf(name: string, schema: Schema, isOptional: boolean): string {
  return `readonly ${name}${isOptional ? '?' : ''}: ${typeOf(schema)}${isOptional ? ' | undefined' : ''}`
}

function typeOf({ anyOf, enum: values, type, properties = {}, required = [] }: Schema): string {
  if (anyOf) return anyOf.map((one) => typeOf(one as Schema)).join(' | ')
  if (values) return values.map((value) => `'${value}'`).join(' | ')
  if (type !== 'object') return type === 'integer' ? 'number' : `${type}`
  const members = Object.entries(properties).map(([name, of]) => memberOf(name, of as Schema, !required.includes(name)))
  return `{ ${members.join('; ')} }`
}
