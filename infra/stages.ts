import { DAILY_LOSS } from '../layers/gateway/domain/counters.ts'
import { formatCredits } from '../layers/gateway/domain/money.ts'
import type { Settings, StageName, Zone } from './props.ts'
import type { SettingsOfStages } from './settings.ts'

/** Everything in which one deployment differs from another: the operator's settings, and those that its name decides. */
export type Stage = Settings & {
  readonly name: string
  /** True if the tables and logs stay when the stack is destroyed. */
  readonly keepsData: boolean
  /** Also makes the operator's commands ask before they change anything. */
  readonly deletionProtection: boolean
  /** The timeout of a non-streaming answer behind CloudFront. */
  readonly edgeTimeoutSeconds: number
}

const COMMON = {
  edge: true,
  chatMemoryMb: 192,
  apiMemoryMb: 512,
  tokenizerMemoryMb: 1_769,
  apiRequestsPerSecond: 500,
  edgeTimeoutSeconds: 120,
  originSecretNumber: 1,
  slowFirstTokenMs: 10_000,
  slowRequestMs: 120_000,
  ipv6: true,
  // As many as all of prod's 500 executions for chats serve in five minutes, if each takes 1.5 seconds.
  wafRequestsPerAddress: 100_000,
  keepRowsDays: null,
  compress: true,
  attribution: true,
  dailyLoss: formatCredits(DAILY_LOSS),
  adminKeys: false,
  probe: false,
  usagePage: false,
  notices: false,
}

/** Makes glibc, with which Node allocates, return the memory of a large request: by default it keeps most of it. */
export const GIVES_MEMORY_BACK = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

const STAGES: Readonly<Record<StageName, Stage>> = {
  dev: {
    ...COMMON,
    name: 'dev',
    keepsData: false,
    deletionProtection: false,
    waf: 'off',
    edgeLogs: false,
    keysTrail: false,
    rollout: 'at-once',
    logRetentionDays: 14,
    // A newcomer's account may have a quota of 10.
    chatConcurrency: null,
    apiConcurrency: null,
    sweepConcurrency: null,
    closeConcurrency: null,
    adminConcurrency: null,
    exportUsage: false,
  },
  prod: {
    ...COMMON,
    name: 'prod',
    keepsData: true,
    deletionProtection: true,
    rollout: 'canary',
    waf: 'count',
    edgeLogs: true,
    keysTrail: true,
    logRetentionDays: 90,
    // 633 of the usual quota of 1,000: chat, five functions of the HTTP API, a sweep that Lambda may start twice, one
    // closing of days, and the admin API.
    chatConcurrency: 500,
    apiConcurrency: 25,
    sweepConcurrency: 2,
    closeConcurrency: 1,
    adminConcurrency: 5,
    exportUsage: true,
  },
}

export const STAGE_NAMES: readonly string[] = Object.keys(STAGES)

export function checkedStageName(name: unknown): StageName {
  if (typeof name === 'string' && Object.hasOwn(STAGES, name)) return name as StageName
  throw new Error(`There is no stage '${name}'. There are ${STAGE_NAMES.join(' and ')}.`)
}

/** The stage with the operator's settings, and defaults for the others. */
export function stageOf(name: unknown, given: SettingsOfStages = {}): Stage {
  const known = checkedStageName(name)
  return { ...STAGES[known], ...given[known] }
}

/** CloudFront takes its certificate, its firewall and the delivery of its logs from this region only, and has its metrics there. */
export const US_EAST_1 = 'us-east-1'

/** The resources of a stage's CloudFront that must be in us-east-1. */
type EdgeNeeds = {
  /** A certificate that has to be made. */
  readonly certificate: { readonly name: string; readonly zone: Zone } | undefined
  readonly firewall: boolean
  readonly logs: boolean
  readonly alarms: boolean
}

export function edgeNeedsOf({ edge, domain, waf, edgeLogs, deletionProtection }: Stage): EdgeNeeds {
  const zone = domain?.certificateArn === undefined ? domain?.hostedZone : undefined
  return {
    certificate: edge && domain && zone ? { name: domain.name, zone } : undefined,
    firewall: edge && waf !== 'off',
    logs: edge && edgeLogs,
    // Not for these alone in a stage that can be lost: a newcomer's account would have to be bootstrapped twice.
    alarms: edge && (deletionProtection || domain !== undefined || waf !== 'off' || edgeLogs),
  }
}

export function needsUsEast1(stage: Stage): boolean {
  return Object.values(edgeNeedsOf(stage)).some(Boolean)
}

/**
 * The numbers of the origin secrets that functions accept while CloudFront sends this one. The next one is accepted before
 * it is sent and the former one after that, so that while a deployment raises the number by one, or is rolled back,
 * CloudFront and the functions may change in any order.
 */
export function acceptedNumbers(sent: number): number[] {
  return [sent - 1, sent, sent + 1].filter((number) => number >= 1)
}

/** On a stack whose settings give the names of its tables: without them it would make other tables. */
export const ADOPTED_TAG = 'waybill:adopted-tables'
/** On a stack whose settings give the name of its bucket of exported days. */
export const ADOPTED_BUCKET_TAG = 'waybill:adopted-export-bucket'
