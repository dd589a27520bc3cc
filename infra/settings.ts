import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { z } from 'zod'
import { FAULT_WORDS } from '../catalog/fault-words.ts'
import { requireCatalog } from '../catalog/parse-catalog.ts'
import type { CatalogData } from '../layers/gateway/domain/catalog.ts'
import { LEAST_ROW_DAYS } from '../layers/gateway/domain/closed-day.ts'
import { jsonFault } from '../layers/gateway/domain/json-fault.ts'
import { parseCredits } from '../layers/gateway/domain/money.ts'
import { documentOf, IS_PACKAGE, SEED_FILE, SETTINGS_FILE } from '../operator/terminal/how-to-run.ts'
import type { Settings } from './props.ts'
import { STAGE_NAMES, stageOf, US_EAST_1 } from './stages.ts'

/** The values that CloudWatch offers. */
export const LOG_DAYS: readonly number[] = [
  ...[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731],
  ...[1_096, 1_827, 2_192, 2_557, 2_922, 3_288, 3_653],
] satisfies RetentionDays[]

const memoryMb = (least: number) => z.int().min(least).max(10_240)
const concurrency = z.int().min(1).max(100_000).nullable()
const hostName = z
  .string()
  .regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, 'must be a domain in lower case')
const bucketName = z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
const tableName = z.string().regex(/^[\w.-]{3,255}$/, 'must be the name of a table')

const domain = z
  .strictObject({
    name: hostName,
    certificateArn: z
      .string()
      .regex(/^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/, 'must be the ARN of a certificate in ACM')
      .refine(isInUsEast1, `must be of a certificate in ${US_EAST_1}, because CloudFront takes none of another region`)
      .optional(),
    hostedZone: z
      .strictObject({ id: z.string().regex(/^Z[A-Z0-9]{1,31}$/, 'must begin with Z'), name: hostName })
      .optional(),
  })
  .refine((it) => it.certificateArn || it.hostedZone, 'needs a certificateArn, or a hostedZone to make one in')
  .refine(
    ({ name, hostedZone: zone }) => !zone || name === zone.name || name.endsWith(`.${zone.name}`),
    'its name is not in the hostedZone',
  )

const settings = z.strictObject({
  alarmEmail: z.email().optional(),
  ticketEmail: z.email().optional(),
  runbookUrl: z.url().optional(),
  slowFirstTokenMs: z.int().min(1),
  slowRequestMs: z.int().min(1),
  monthlyBudgetUsd: z.number().positive().optional(),
  edge: z.boolean(),
  ipv6: z.boolean(),
  domain: domain.optional(),
  waf: z.enum(['off', 'count', 'block']),
  wafRequestsPerAddress: z.int().min(10).max(2_000_000_000),
  edgeLogs: z.boolean(),
  keysTrail: z.boolean(),
  adminKeys: z.boolean(),
  probe: z.boolean(),
  usagePage: z.boolean(),
  notices: z.boolean(),
  tableNames: z.strictObject({ keys: tableName, usage: tableName, answers: tableName.optional() }).optional(),
  exportBucket: bucketName.optional(),
  rollout: z.enum(['canary', 'at-once']),
  originSecretNumber: z.int().min(1),
  chatMemoryMb: memoryMb(192),
  apiMemoryMb: memoryMb(128),
  tokenizerMemoryMb: memoryMb(512),
  logRetentionDays: z
    .int()
    .refine((days) => LOG_DAYS.includes(days), 'must be days that CloudWatch offers: 14, 30, 90, 365 and others'),
  chatConcurrency: concurrency,
  apiConcurrency: concurrency,
  sweepConcurrency: concurrency,
  closeConcurrency: concurrency,
  adminConcurrency: concurrency,
  compress: z.boolean(),
  attribution: z.boolean(),
  dailyLoss: z
    .string()
    .refine((text) => parseCredits(text) !== undefined, 'must be credits as a decimal text, such as "1"'),
  exportUsage: z.boolean(),
  keepRowsDays: z.int().min(LEAST_ROW_DAYS).max(36_500).nullable(),
  apiRequestsPerSecond: z.int().min(1).max(10_000),
} satisfies { readonly [Name in keyof Required<Settings>]: z.ZodType<Settings[Name]> })

/** By the name of the stage. */
export type SettingsOfStages = Readonly<Record<string, Partial<Settings>>>

type Range = { readonly minimum: number | undefined; readonly maximum: number | undefined }

/** The least and the most that a setting may be. */
export function numberRange(name: string): Range {
  const schema = z.toJSONSchema(settings.shape[name as keyof Settings])
  const { minimum, maximum } = { ...schema, ...(schema.anyOf?.[0] as typeof schema | undefined) }
  return { minimum, maximum: maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum }
}

export const SETTING_NAMES = Object.keys(settings.shape) as (keyof Settings)[]

export { SEED_FILE, SETTINGS_FILE }

/** A package has its operator's files in the folder in which it is run. */
const folder = () => (IS_PACKAGE ? process.cwd() : fileURLToPath(new URL('..', import.meta.url)))

/** The settings that the operator's file has for each stage. `WAYBILL_SETTINGS` names another file. */
export function readSettings(): SettingsOfStages {
  const { WAYBILL_SETTINGS: named } = process.env
  const file = named ?? join(folder(), SETTINGS_FILE)
  if (!named && !existsSync(file)) return {}
  return parseSettings(readFileSync(file, 'utf8'), named ?? SETTINGS_FILE)
}

/** Throws one error with every fault of the file. */
export function parseSettings(text: string, file: string): SettingsOfStages {
  const ofStages = z
    .strictObject(Object.fromEntries(STAGE_NAMES.map((name) => [name, settingsOf(name).optional()])))
    .extend({ $comment: z.string().optional() })
    .transform(({ $comment: _, ...stages }) => stages)
  const parsed = ofStages.safeParse(jsonOf(text, file), FAULT_WORDS)
  if (parsed.success) return parsed.data as SettingsOfStages
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`)
  throw new Error(`${file} is not valid.\n  ${faults.join('\n  ')}\nThe settings are in ${documentOf('deploy.md')}.`)
}

/** The faults of one stage's settings in code, where `isLater` tells the values that only a deployment knows. */
export function settingsFaults(stage: string, own: object, isLater: (value: unknown) => boolean): string[] {
  const faults = settingsOf(stage).safeParse(own, FAULT_WORDS).error?.issues ?? []
  return faults.flatMap(({ path, message }) => {
    const name = path.join('.')
    if (!isLater(valueAt(own, path))) return [`${name || 'settings'}: ${message}`]
    return MAY_COME_LATER.includes(name) ? [] : [`${name}: must be known when the template is made, and not later`]
  })
}

/**
 * The settings that are only put into the template: no resource is there or not, or has its name, by them. None is of a
 * function's own configuration, either: a deployment with another value of it would make no new version.
 */
export const MAY_COME_LATER: readonly string[] = [
  ...['alarmEmail', 'ticketEmail', 'runbookUrl', 'monthlyBudgetUsd', 'logRetentionDays'],
  ...['slowFirstTokenMs', 'slowRequestMs', 'wafRequestsPerAddress', 'apiRequestsPerSecond'],
  ...['apiConcurrency', 'sweepConcurrency', 'closeConcurrency', 'adminConcurrency'],
  ...['domain.certificateArn', 'domain.hostedZone.id'],
]

function valueAt(value: unknown, [key, ...rest]: readonly PropertyKey[]): unknown {
  return key === undefined ? value : valueAt((value as Record<PropertyKey, unknown>)[key], rest)
}

/** With the rules by which settings of the stage depend on each other. */
function settingsOf(name: string) {
  const asItComes = stageOf(name)
  return settings
    .partial()
    .refine(
      (own) => !own.monthlyBudgetUsd || own.alarmEmail,
      'monthlyBudgetUsd needs an alarmEmail, to which AWS writes',
    )
    .refine(
      ({ edge, domain, waf = 'off', edgeLogs }) => edge !== false || (!domain && waf === 'off' && !edgeLogs),
      'domain, waf and edgeLogs are of CloudFront, which edge: false is without',
    )
    .refine(
      ({ tableNames }) => !tableNames || asItComes.keepsData,
      'tableNames is for a stage whose tables outlive it: CloudFormation adopts no others',
    )
    .refine(
      ({ edge, usagePage }) => edge !== false || !usagePage,
      'usagePage needs edge, because without it chat has another address than the page',
    )
    .refine(
      ({ keepRowsDays = asItComes.keepRowsDays, exportUsage = asItComes.exportUsage }) =>
        keepRowsDays === null || exportUsage,
      'keepRowsDays needs exportUsage, because a row that is deleted must be somewhere',
    )
    .refine(
      ({ exportBucket, exportUsage = asItComes.exportUsage }) => !exportBucket || exportUsage,
      'exportBucket needs exportUsage, by which a stage has a bucket',
    )
}

/** A setting that was given as a flag would be lost with the next deployment. */
export function refuseFlags(context: (name: string) => unknown): void {
  for (const name of SETTING_NAMES) {
    if (context(name) === undefined) continue
    throw new Error(
      `'-c ${name}=…' is not taken, because the next deployment would forget it: set "${name}" in ${SETTINGS_FILE}.`,
    )
  }
}

/** The catalog that the first deployment puts in force, also as its author wrote it. */
export type Seed = { readonly catalog: CatalogData; readonly source: string }

/** A file that somebody names is found from where they are. */
export function readSeed(named?: string): Seed {
  const file = named ?? SEED_FILE
  const json = jsonOf(textOf(named === undefined ? join(folder(), file) : resolve(file)), file)
  return { catalog: requireCatalog(json, file), source: JSON.stringify(json) }
}

function textOf(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8')
  const advice = IS_PACKAGE ? "'npx waybill init' writes a first one." : `${SEED_FILE} is an example.`
  throw new Error(`There is no ${file}. ${advice}`)
}

function isInUsEast1(arn: string): boolean {
  return arn.split(':')[3] === US_EAST_1
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is not JSON: ${jsonFault(text)}.`)
  }
}
