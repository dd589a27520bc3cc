import { type Nano, parseCredits } from '../domain/money/money.ts'
import { isOwnVariable } from '../domain/routing/catalog.ts'
import type { Seller } from '../domain/rows/statement.ts'
import { BRAND, ENV, type Variable, versionName } from '../names.ts'

export type Config = {
  readonly keysTable: string
  readonly usageTable: string
  readonly answersTable: string
  readonly keyPrefix: string
  readonly headerPrefix: string
  readonly stage?: string | undefined
  /** The function and its version, as Lambda tells them. */
  readonly version?: string | undefined
  /** The secrets by which our own CloudFront distribution can prove itself; none without a distribution. */
  readonly originSecrets?: readonly string[] | undefined
  /** The most time for an answer that is not streamed, if something in front of the function has a timeout. */
  readonly wholeAnswerMs?: number | undefined
  readonly isCompressed?: boolean
  readonly isUnattributed?: boolean
  readonly dailyLoss?: Nano | undefined
  /** How long usage rows are kept; without it, for good. */
  readonly keepRowsDays?: number | undefined
  readonly hasUsagePage?: boolean
  readonly topUpUrl?: string | undefined
  /** The most requests that one key may have under way, whatever its own limit; without it, any number. */
  readonly mostAtOnce?: number | undefined
}

/** The quota of an account, unless AWS has changed it: "Lambda quotas" in the Developer Guide. */
const EXECUTIONS = 1_000

type Environment = Readonly<Record<string, string | undefined>>

/** The only reader of the process environment in the gateway. */
export function readConfig(env: Environment = process.env): Config {
  const text = (name: string) => env[name] || undefined
  const number = (name: string) => (env[name] ? Number(env[name]) : undefined)
  const share = number(ENV.keyShare)
  return {
    keysTable: required(env, ENV.keysTable),
    usageTable: required(env, ENV.usageTable),
    answersTable: required(env, ENV.answersTable),
    keyPrefix: BRAND.keyPrefix,
    headerPrefix: BRAND.headerPrefix,
    stage: text(ENV.stage),
    version: versionName(text('AWS_LAMBDA_FUNCTION_NAME'), text('AWS_LAMBDA_FUNCTION_VERSION')),
    originSecrets: text(ENV.originSecrets)?.split(','),
    wholeAnswerMs: number(ENV.wholeAnswerMs),
    isCompressed: env[ENV.compress] === 'true',
    isUnattributed: env[ENV.attribution] === 'false',
    dailyLoss: parseCredits(env[ENV.dailyLoss] ?? ''),
    keepRowsDays: number(ENV.keepRowsDays),
    hasUsagePage: env[ENV.usagePage] === 'true',
    mostAtOnce: share && Math.max(1, Math.floor(share * (number(ENV.chatConcurrency) ?? EXECUTIONS))),
  }
}

export function readTokenizerFunction(env: Environment = process.env): string {
  return required(env, ENV.tokenizerFunction)
}

/** The bucket of exported days, the bus of notices, the seller or another setting; none if the stage has none. */
export function readOptional(name: Variable, env: Environment = process.env) {
  return env[ENV[name]] || undefined
}

/** A gateway on one machine has it in its configuration. */
export const readTopUpUrl = ({ topUpUrl }: Config) => topUpUrl ?? readOptional('topUpUrl')

/** The stage as the admin API describes it. `takesKeys`: admin keys are accepted. */
export type AdminSettings = Seller & {
  readonly baseUrl: string
  readonly isProtected: boolean
  readonly takesKeys: boolean
  /** Somebody receives notices: a webhook, or the rules of a bus. */
  readonly tellsNotices: boolean
}

export function readAdminSettings(env: Environment = process.env): AdminSettings {
  return {
    baseUrl: required(env, ENV.baseUrl),
    isProtected: required(env, ENV.protected) !== 'false',
    takesKeys: env[ENV.adminKeys] === 'true',
    tellsNotices: readOptional('tellsNotices', env) === 'true',
    seller: readOptional('seller', env),
    currency: readOptional('currency', env),
  }
}

/** `baseUrl` is for chat, `apiUrl` for the rest. */
export type ProbeSettings = { readonly stage: string; readonly baseUrl: string; readonly apiUrl: string }

export function readProbeSettings(env: Environment = process.env): ProbeSettings {
  const [stage = '', baseUrl = '', apiUrl = ''] = [ENV.stage, ENV.baseUrl, ENV.apiUrl].map((it) => required(env, it))
  return { stage, baseUrl, apiUrl }
}

export function readMemoryMb(env: Environment = process.env): number {
  return Number(env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE) || Number.POSITIVE_INFINITY
}

/** The value behind a catalog's `env:NAME`, which is never one of our own. */
export function readVariable(name: string, env: Environment = process.env): string | undefined {
  return isOwnVariable(name) ? undefined : env[name] || undefined
}

export function readProfile(env: Environment = process.env): string | undefined {
  return env.AWS_PROFILE || undefined
}

export type Credentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** The function's role, as Lambda tells it. Read for every call, so that renewed credentials are used at once. */
export function readCredentials(env: Environment = process.env): Credentials {
  return {
    accessKeyId: required(env, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: required(env, 'AWS_SECRET_ACCESS_KEY'),
    ...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
  }
}

/** The region, and the endpoint that replaces a service's own, by the variables that AWS's SDKs use. */
export function readAwsEndpoint(service: string, env: Environment = process.env) {
  const endpoint = env[`AWS_ENDPOINT_URL_${service}`] || env.AWS_ENDPOINT_URL || undefined
  return { region: required(env, 'AWS_REGION'), endpoint }
}

function required(env: Environment, name: string): string {
  const value = env[name]
  if (!value) throw new Error(`The environment variable ${name} is not set.`)
  return value
}
