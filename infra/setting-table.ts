import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { z } from 'zod'
import { DAILY_LOSS } from '../layers/gateway/domain/admission/counters.ts'
import { formatCredits, parseCredits } from '../layers/gateway/domain/money/money.ts'
import { LEAST_ROW_DAYS } from '../layers/gateway/domain/rows/closed-day.ts'
import { ENV } from '../layers/gateway/names.ts'
import { US_EAST_1 } from './regions.ts'

export const LOG_DAYS: readonly number[] = [
  ...[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731],
  ...[1_096, 1_827, 2_192, 2_557, 2_922, 3_288, 3_653],
] satisfies RetentionDays[]

const OFFERED_DAYS = 'days that CloudWatch offers: 14, 30, 90, 365 and others'

const matching = (pattern: RegExp, message: string) => z.string().regex(pattern, message)

const hostName = matching(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, 'must be a domain in lower case')
// The rights to tables are in policies, which AWS limits.
const tableName = matching(/^[\w.-]{3,100}$/, 'must be the name of a table, of at most 100 characters')

const vaultArn = matching(
  /^arn:aws[\w-]*:backup:[a-z0-9-]+:\d{12}:backup-vault:[\w-]{2,50}$/,
  'must be the ARN of a vault of AWS Backup',
)

const domain = z
  .strictObject({
    name: hostName,
    certificateArn: matching(
      /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
      'must be the ARN of a certificate in ACM',
    )
      .refine(
        (arn) => arn.split(':')[3] === US_EAST_1,
        `must be of a certificate in ${US_EAST_1}, because CloudFront takes none of another region`,
      )
      .optional(),
    hostedZone: z.strictObject({ id: matching(/^Z[A-Z0-9]{1,31}$/, 'must begin with Z'), name: hostName }).optional(),
  })
  .refine((it) => it.certificateArn || it.hostedZone, 'needs a certificateArn, or a hostedZone to make one in')
  .refine(
    ({ name, hostedZone: zone }) => !zone || name === zone.name || name.endsWith(`.${zone.name}`),
    'its name is not in the hostedZone',
  )

type Row = {
  readonly schema: z.ZodType
  /** The defaults of the stages; a setting without them is optional. */
  readonly dev?: unknown
  readonly prod?: unknown
  /** The words of docs/deploy.md. */
  readonly words: string
  /** The variable by which the functions with tables know it, unless it is null. */
  readonly variable?: string | undefined
}

type Defaults = Pick<Row, 'dev' | 'prod'>

const inBoth = <T>(value: T) => ({ dev: value, prod: value })
const IN_PROD = { dev: false, prod: true }
const OFF = inBoth(false)

function setting<Schema extends z.ZodType>(schema: Schema, defaults: Defaults, words: string, variable?: string) {
  return { schema, ...defaults, words, variable }
}
const optional = <Schema extends z.ZodType>(schema: Schema, words: string, variable?: string) =>
  setting(schema.optional(), {}, words, variable)

const flag = (defaults: Defaults, words: string, variable?: string) => setting(z.boolean(), defaults, words, variable)

export const SETTING_TABLE = {
  alarmEmail: optional(z.email(), 'gets every alarm, beside the SNS topics; AWS asks the address to confirm'),
  ticketEmail: optional(z.email(), 'gets the alarms that can wait, in place of `alarmEmail`'),
  monthlyBudgetUsd: optional(
    z.number().positive(),
    'what the whole account may spend in a month: `alarmEmail` hears at 80 %, and when AWS foresees more',
  ),
  logRetentionDays: setting(
    z.int().refine((days) => LOG_DAYS.includes(days), `must be ${OFFERED_DAYS}`),
    { dev: 14, prod: 90 },
    OFFERED_DAYS,
  ),
  slowFirstTokenMs: setting(
    z.int().min(1),
    inBoth(10_000),
    'if one of twenty answers begins later, `SlowFirstTokens` goes off; set it above what your slowest model usually takes',
  ),
  apiRequestsPerSecond: setting(z.int().min(1).max(10_000), inBoth(500), 'to the HTTP API, all keys together'),
  edge: flag(inBoth(true), '`false` is without CloudFront: `ChatUrl` and `ApiUrl` in place of `BaseUrl`'),
  ipv6: flag(inBoth(true), 'whether CloudFront takes requests over IPv6'),
  domain: optional(domain, 'a [domain of your own](#a-domain-of-your-own), which is then `BaseUrl`'),
  waf: setting(
    z.enum(['off', 'count', 'block']),
    { dev: 'off', prod: 'count' },
    'a [web firewall](#the-web-firewall) for CloudFront: `off`, `count` or `block`',
  ),
  edgeLogs: flag(
    IN_PROD,
    "[logs of CloudFront](#cloudfronts-logs) and of the firewall, with clients' addresses, in us-east-1; a stage of another region has them only if it is set",
  ),
  keysTrail: flag(IN_PROD, '[who touches the table of keys](#who-touched-the-keys), by CloudTrail'),
  adminKeys: flag(
    OFF,
    'whether the [admin API](operate.md#admin-api) also takes [admin keys](operate.md#admin-keys), for programs outside AWS',
  ),
  probe: flag(
    IN_PROD,
    'a [probe](#the-probe), which asks for a chat every five minutes as a client does and pages if it gets none',
  ),
  usagePage: flag(
    OFF,
    'a [page](clients.md#a-page-for-the-owner-of-a-key) at `/usage` of the gateway, at which the owner of a key sees its usage; not with `edge: false`',
    ENV.usagePage,
  ),
  notices: flag(
    OFF,
    'a bus of EventBridge with [notices of keys](operate.md#notices); the output `EventBus` has its name',
  ),
  webhookUrl: optional(
    matching(/^https:\/\/[^\s@]+$/, 'must begin with https://, without a name and a password'),
    'where the stage posts [notices](operate.md#notices) itself, signed with its secret `webhook`',
  ),
  tableNames: optional(
    z.strictObject({ keys: tableName, usage: tableName, answers: tableName.optional() }),
    'tables that outlived their stack, to be [used again](disaster-recovery.md#a-destroyed-stack)',
  ),
  backup: setting(
    z.array(vaultArn).min(1).max(5).nullable(),
    // Another region is the operator's to choose, because what is kept there leaves this one.
    inBoth(null),
    'vaults of AWS Backup elsewhere, by their ARNs, each of which gets [a copy](disaster-recovery.md#copies-elsewhere) of keys and usage every day; the first is in another region',
  ),
  rollout: setting(
    z.enum(['canary', 'at-once']),
    { dev: 'at-once', prod: 'canary' },
    '`canary` [tries new code](#rollouts) on a tenth of the calls first',
  ),
  originSecretNumber: setting(
    z.int().min(1),
    inBoth(1),
    'raised by one, it [rotates the origin secret](#rotate-the-origin-secret)',
  ),
  chatMemoryMb: setting(
    // The worst requests that callers can send take 160 MB in all.
    z.int().min(192).max(10_240),
    inBoth(192),
    "at least 192; a stream's cost is its time × this, so small is cheap",
  ),
  chatConcurrency: setting(
    z.int().min(1).max(100_000).nullable(),
    inBoth(null),
    'chats that may run at once, for which Lambda reserves executions; `null` reserves none',
    ENV.chatConcurrency,
  ),
  keyShare: setting(
    z.number().min(0.001).max(1),
    inBoth(0.2),
    'the part of those chats, or of 1,000 if none are reserved, that one key may have at once, whatever its own limit',
    ENV.keyShare,
  ),
  reserveExecutions: flag(
    // A newcomer's account may have a quota of 10, of which nothing can be reserved.
    IN_PROD,
    'whether Lambda reserves two executions for the sweep and one for closing days, which chats then cannot take',
  ),
  compress: flag(
    OFF,
    "whether chat's answers are compressed for clients that accept gzip; `waybill smoke` sees [whether that works](#compression)",
    ENV.compress,
  ),
  attribution: flag(
    inBoth(true),
    'whether usage rows have the [user and tags](operate.md#usage) that a caller names',
    ENV.attribution,
  ),
  dailyLoss: setting(
    z.string().refine((text) => parseCredits(text) !== undefined, 'must be credits as a decimal text, such as "1"'),
    inBoth(formatCredits(DAILY_LOSS)),
    'the credits, as a text such as `"1"`, that a key\'s requests may [cost you beyond their charges](operate.md#what-a-key-may-lose) on a UTC day, unless the key has a bound of its own',
    ENV.dailyLoss,
  ),
  topUpUrl: optional(
    matching(/^https:\/\/[^\s<>"]{1,500}$/, 'must begin with https://, without spaces'),
    'the address at which your customers buy credits: refusals for credits (402), [notices](operate.md#notices) and the [page for owners of keys](clients.md#a-page-for-the-owner-of-a-key) have it',
    ENV.topUpUrl,
  ),
  seller: optional(
    matching(/^[^\p{C}]{1,300}$/u, 'must be one line of at most 300 characters'),
    'your name and address as [statements](operate.md#statements) have them',
    ENV.seller,
  ),
  currency: optional(
    matching(/^[A-Z]{3,10} \d$/, 'must be the name of a credit and its digits, such as "USD 2"'),
    'the name of a credit and the digits that [statements](operate.md#statements) print, such as `"USD 2"`; FOCUS has the name',
    ENV.currency,
  ),
  exportUsage: flag(IN_PROD, 'whether [closed days](operate.md#closed-days) are exported to S3'),
  otlpUrl: optional(
    matching(/^https:\/\/[^\s/@?#]+(\/[^\s?#]*)?$/, 'must begin with https://, without a name, a password or a query'),
    'the address of a collector of OpenTelemetry, to which each request that asked a model leaves as [a span](operate.md#spans)',
    ENV.otlpUrl,
  ),
  keepRowsDays: setting(
    z.int().min(LEAST_ROW_DAYS).max(36_500).nullable(),
    inBoth(null),
    'days after which a usage row is deleted, at least 90, and only with `exportUsage`; without it rows are kept for good. It is for rows that are written from then on, and none is deleted [before its day is exported](operate.md#closed-days)',
    ENV.keepRowsDays,
  ),
} as const satisfies Record<string, Row>

type Table = typeof SETTING_TABLE
export type SettingName = keyof Table
type Value<Name extends SettingName> = z.infer<Table[Name]['schema']>
type OptionalName = { [Name in SettingName]: undefined extends Value<Name> ? Name : never }[SettingName]

export type Settings = { readonly [Name in Exclude<SettingName, OptionalName>]: Value<Name> } & {
  readonly [Name in OptionalName]?: Value<Name>
}

export type SettingsOfStages = Readonly<Record<string, Partial<Settings>>>

export const SETTING_NAMES = Object.keys(SETTING_TABLE) as SettingName[]

/** The rows as they are told by name: their own types are too narrow for that. */
export const settingRow = (name: SettingName): Row => SETTING_TABLE[name]

/**
 * The settings, and members of settings, that may come with the deployment, because they are only put into the template:
 * no resource is there or not, or has its name, by them. None is of a function's own configuration, either: a deployment
 * with another value of it would make no new version.
 */
export const MAY_COME_LATER: readonly string[] = [
  ...['alarmEmail', 'ticketEmail', 'monthlyBudgetUsd', 'logRetentionDays', 'slowFirstTokenMs', 'apiRequestsPerSecond'],
  ...['domain.certificateArn', 'domain.hostedZone.id'],
]

export function defaultsOf(stage: 'dev' | 'prod'): Settings {
  const set = SETTING_NAMES.filter((name) => stage in settingRow(name))
  return Object.fromEntries(set.map((name) => [name, settingRow(name)[stage]])) as Settings
}

export function settingVariables(settings: Settings): Record<string, string> {
  const known = SETTING_NAMES.flatMap((name) => {
    const { variable } = settingRow(name)
    return variable === undefined || settings[name] == null ? [] : [[variable, String(settings[name])] as const]
  })
  return Object.fromEntries(known)
}
