import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { localFolder } from '../cli/connect/local-gateway.ts'
import { IS_PACKAGE, START_WITH } from '../layers/terminal/how-to-run.ts'
import { CliError } from '../layers/terminal/output.ts'

export type LocalSettings = NonNullable<ReturnType<typeof readSettings>>

type Option = {
  readonly type: 'string' | 'boolean'
  readonly takes?: string
  readonly variable?: string
  readonly words: string
}

const text = (takes: string, variable: string, words: string) => ({ type: 'string', takes, variable, words }) as const

/** The settings of `npm start`: `npm start -- --port 9000`, or a variable of the environment. */
const OPTIONS = {
  port: text('NUMBER', 'PORT', 'The port of the gateway, 8787 unless given; 0 for any that is free.'),
  catalog: text(
    'FILE',
    'WAYBILL_CATALOG',
    `The catalog to begin with, ${IS_PACKAGE ? 'one with the model echo' : 'local/catalog.json'} unless given.`,
  ),
  data: text('FOLDER', 'WAYBILL_DATA', 'Where the data is kept, .waybill unless given.'),
  webhook: text(
    'URL',
    'WAYBILL_WEBHOOK',
    'Where notices of keys are posted, signed with WAYBILL_WEBHOOK_SECRET or a secret that the data has.',
  ),
  otlp: text('URL', 'WAYBILL_OTLP_URL', 'A collector of OpenTelemetry, to which requests leave as spans.'),
  memory: { type: 'boolean', words: 'Keep no data: everything is gone at the end.' },
  throttle: { type: 'boolean', words: 'Refuse more than 1,000 write units a second of an item, as DynamoDB does.' },
  help: { type: 'boolean', words: 'Print this.' },
} as const satisfies Record<string, Option>

export const HELP = [
  `${START_WITH} [options]`,
  '',
  ...Object.entries<Option>(OPTIONS).map(([name, { takes, variable, words }]) => {
    const option = `--${name}${takes ? ` ${takes}` : ''}`
    return `  ${option.padEnd(18)}  ${words}${variable ? ` Also ${variable}.` : ''}`
  }),
].join('\n')

/** Undefined if help is asked for. Throws a CliError. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv) {
  const given = readArguments(args)
  if (given.help) return undefined
  const optionOf = (name: 'port' | 'catalog' | 'data' | 'webhook' | 'otlp') =>
    given[name] ?? (env[OPTIONS[name].variable] || undefined)
  const [catalog, webhook, otlp] = [optionOf('catalog'), optionOf('webhook'), optionOf('otlp')]
  return {
    port: portOf(optionOf('port') ?? '8787'),
    catalogFile: catalog ? resolve(catalog) : fileURLToPath(new URL('catalog.json', import.meta.url)),
    folder: localFolder(process.cwd(), optionOf('data')),
    isInMemory: given.memory === true,
    isThrottled: given.throttle === true,
    // The secret signs notices if it is not the folder's own.
    ...(webhook && { webhook: { url: urlOf('webhook', webhook), secret: env.WAYBILL_WEBHOOK_SECRET || undefined } }),
    ...(otlp && { otlpUrl: urlOf('collector', otlp) }),
  }
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values
  } catch (error) {
    throw new CliError(`${(error as Error).message.split('. ')[0]}. What there is: ${START_WITH} --help`)
  }
}

function urlOf(noun: string, text: string): string {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url.href
  throw new CliError(`The ${noun} must be an address with http:// or https://, without a name and a password in it.`)
}

function portOf(port: string): number {
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port)
  throw new CliError(`The port must be a number from 0 to 65535, but is '${port}'.`)
}
