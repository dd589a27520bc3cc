import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { z } from 'zod'
import { requireCatalog } from '../catalog/parse-catalog.ts'
import type { CatalogData } from '../layers/gateway/domain/catalog.ts'
import { LEAST_ROW_DAYS } from '../layers/gateway/domain/closed-day.ts'
import { jsonFault } from '../layers/gateway/domain/json-fault.ts'
import { documentOf, IS_PACKAGE, SEED_FILE, SETTINGS_FILE } from '../operator/terminal/how-to-run.ts'
import { STAGE_NAMES, stageOf, US_EAST_1 } from './stages.ts'

/** The values that CloudWatch offers. */
const LOG_DAYS: readonly number[] = [
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
    /** The zone in Route 53 of the domain: its records are then made, and its certificate if none is given. */
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
  /** Gets alarms by e-mail, beside the topics. */
  alarmEmail: z.email().optional(),
  /** Gets the alarms that can wait for a working day, in place of the address above. */
  ticketEmail: z.email().optional(),
  /** The address of docs/operate.md as your people read it, which each alarm names. */
  runbookUrl: z.url().optional(),
  /** Alarms go off if one of twenty answers begins later, or one of twenty requests takes longer. */
  slowFirstTokenMs: z.int().min(1),
  slowRequestMs: z.int().min(1),
  /** The spending of the account in a month from which on `alarmEmail` is told. */
  monthlyBudgetUsd: z.number().positive().optional(),
  /** Without it there is no CloudFront distribution, and two addresses in place of one. */
  edge: z.boolean(),
  /** True if CloudFront accepts requests over IPv6. */
  ipv6: z.boolean(),
  /** The base URL's own domain, which stays when the distribution is made anew. */
  domain: domain.optional(),
  /** A web firewall for CloudFront: none, or AWS's common rules that count, or block. */
  waf: z.enum(['off', 'count', 'block']),
  /** The most requests of one address in five minutes; the firewall refuses more. */
  wafRequestsPerAddress: z.int().min(10).max(2_000_000_000),
  /** True if CloudFront logs its requests into a bucket. */
  edgeLogs: z.boolean(),
  /** True if CloudTrail records accesses to the table of keys, other than by the functions. */
  keysTrail: z.boolean(),
  /** True if the admin API is deployed, for callers who sign with AWS credentials. */
  admin: z.boolean(),
  /** True if it also accepts admin keys, from programs outside AWS. */
  adminKeys: z.boolean(),
  /** True if a function calls the gateway every five minutes as a client does, with a key of its own. */
  probe: z.boolean(),
  /** True if the gateway has a page at /usage, for the owners of keys. */
  usagePage: z.boolean(),
  /** True if there is a bus of EventBridge, on which notices of keys are put. */
  notices: z.boolean(),
  /** Tables of an earlier stack that the next deployment adopts; they have these names from then on. */
  tableNames: z.strictObject({ keys: tableName, usage: tableName, answers: tableName.optional() }).optional(),
  /** The bucket of an earlier stack's exported days that the next deployment adopts; it has this name from then on. */
  exportBucket: bucketName.optional(),
  /** Gives new code a tenth of the calls for half an hour first, or all of them at once. */
  rollout: z.enum(['canary', 'at-once']),
  /** Raised by one, it makes the next deployment rotate the secret between CloudFront and the functions. */
  originSecretNumber: z.int().min(1),
  /** A stream's cost is its time × this, so small is cheap; the worst requests that callers can send take 160 MB in all. */
  chatMemoryMb: memoryMb(192),
  apiMemoryMb: memoryMb(128),
  /** A whole core: with less of one, the tokenizer would load longer and cost the same. */
  tokenizerMemoryMb: memoryMb(512),
  logRetentionDays: z
    .int()
    .refine((days) => LOG_DAYS.includes(days), 'must be days that CloudWatch offers: 14, 30, 90, 365 and others'),
  /**
   * The executions that Lambda reserves for chat, for each function of the HTTP API, for the sweep, for the closing of
   * days and for the admin API, which is also the most that each may have: so one key's streams cannot crowd out the
   * others. Lambda keeps 100 of the account's quota unreserved. A new account may have a quota of 10, of which nothing
   * can be reserved.
   */
  chatConcurrency: concurrency,
  apiConcurrency: concurrency,
  sweepConcurrency: concurrency,
  closeConcurrency: concurrency,
  adminConcurrency: concurrency,
  /** True if chat compresses its answers for clients that accept gzip: a stream is a tenth of its length. */
  compress: z.boolean(),
  /** True if usage rows have the users and tags that callers name. */
  attribution: z.boolean(),
  /** True if the rows of closed days are written to a bucket. */
  exportUsage: z.boolean(),
  /** The days after which a row is deleted, once its day is exported; null keeps rows for good. */
  keepRowsDays: z.int().min(LEAST_ROW_DAYS).max(36_500).nullable(),
  /** The limit of the HTTP API, for all keys together; a key has its own limits. */
  apiRequestsPerSecond: z.int().min(1).max(10_000),
})

export type Settings = Readonly<z.infer<typeof settings>>
type Domain = NonNullable<Settings['domain']>
export type Zone = NonNullable<Domain['hostedZone']>
/** By the name of the stage. */
export type SettingsOfStages = Readonly<Record<string, Partial<Settings>>>

export const SETTING_NAMES = Object.keys(settings.shape) as (keyof Settings)[]

export { SEED_FILE, SETTINGS_FILE }

/** A package has its operator's files in the folder in which it is run. */
const FOLDER = IS_PACKAGE ? process.cwd() : fileURLToPath(new URL('..', import.meta.url))

/** The settings that the operator's file has for each stage. `WAYBILL_SETTINGS` names another file. */
export function readSettings(): SettingsOfStages {
  const { WAYBILL_SETTINGS: named } = process.env
  const file = named ?? join(FOLDER, SETTINGS_FILE)
  if (!named && !existsSync(file)) return {}
  return parseSettings(readFileSync(file, 'utf8'), named ?? SETTINGS_FILE)
}

/** Throws one error with every fault of the file. */
export function parseSettings(text: string, file: string): SettingsOfStages {
  const ofStage = (name: string) =>
    settings
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
        ({ tableNames }) => !tableNames || stageOf(name).keepsData,
        'tableNames is for a stage whose tables outlive it: CloudFormation adopts no others',
      )
      .refine(
        ({ edge, usagePage }) => edge !== false || !usagePage,
        'usagePage needs edge, because without it chat has another address than the page',
      )
      .refine(({ admin, adminKeys }) => !adminKeys || admin, 'adminKeys needs admin, the API that takes them')
      .refine(({ keepRowsDays, exportUsage }) => {
        const asItComes = stageOf(name)
        return (keepRowsDays ?? asItComes.keepRowsDays) === null || (exportUsage ?? asItComes.exportUsage)
      }, 'keepRowsDays needs exportUsage, because a row that is deleted must be somewhere')
      .refine(
        ({ exportBucket, exportUsage }) => !exportBucket || (exportUsage ?? stageOf(name).exportUsage),
        'exportBucket needs exportUsage, by which a stage has a bucket',
      )
      .optional()
  const ofStages = z
    .strictObject(Object.fromEntries(STAGE_NAMES.map((name) => [name, ofStage(name)])))
    .extend({ $comment: z.string().optional() })
    .transform(({ $comment: _, ...stages }) => stages)
  const parsed = ofStages.safeParse(jsonOf(text, file))
  if (parsed.success) return parsed.data as SettingsOfStages
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`)
  throw new Error(`${file} is not valid.\n  ${faults.join('\n  ')}\nThe settings are in ${documentOf('deploy.md')}.`)
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

const SEED = join(FOLDER, SEED_FILE)

/** The catalog that the first deployment puts in force. */
export function readSeedCatalog(file = SEED): CatalogData {
  return requireCatalog(jsonOf(textOf(file), file), file === SEED ? SEED_FILE : file)
}

/** The same as its author wrote it. */
export function readSeedSource(): string {
  return JSON.stringify(jsonOf(textOf(SEED), SEED_FILE))
}

function textOf(file: string): string {
  if (IS_PACKAGE && !existsSync(file)) throw new Error(`There is no ${file}. 'npx waybill init' writes a first one.`)
  return readFileSync(file, 'utf8')
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
