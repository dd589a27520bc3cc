import type { StageName } from './props.ts'
import { defaultsOf, type Settings, type SettingsOfStages } from './setting-table.ts'

export type Zone = NonNullable<NonNullable<Settings['domain']>['hostedZone']>

/** Everything in which one deployment differs from another: the operator's settings, and those that its name decides. */
export type Stage = Settings & {
  readonly name: string
  readonly keepsData: boolean
  /** Also makes the operator's commands ask before they change anything. */
  readonly deletionProtection: boolean
}

/** The timeout of an answer that is not streamed, behind CloudFront. */
export const EDGE_TIMEOUT_SECONDS = 120

/** Makes glibc, with which Node allocates, return the memory of a large request: by default it keeps most of it. */
export const GIVES_MEMORY_BACK = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

/** The id of a construct. */
export const pascal = (name: string) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`

const STAGES: Readonly<Record<StageName, Stage>> = {
  dev: { ...defaultsOf('dev'), name: 'dev', keepsData: false, deletionProtection: false },
  prod: { ...defaultsOf('prod'), name: 'prod', keepsData: true, deletionProtection: true },
}

export const STAGE_NAMES: readonly string[] = Object.keys(STAGES)

export function checkedStageName(name: unknown): StageName {
  if (typeof name === 'string' && Object.hasOwn(STAGES, name)) return name as StageName
  throw new Error(`There is no stage '${name}'. There are ${STAGE_NAMES.join(' and ')}.`)
}

export function stageOf(name: unknown, given: SettingsOfStages = {}): Stage {
  const known = checkedStageName(name)
  return { ...STAGES[known], ...given[known] }
}

/** The executions that no other function takes; Lambda may start a sweep twice. */
export function reservedBy({ chatConcurrency: chat, reserveExecutions }: Stage) {
  return reserveExecutions ? { chat, sweep: 2, close: 1 } : { chat, sweep: null, close: null }
}

/** The resources of a stage's CloudFront that must be in us-east-1. */
export function edgeNeedsOf({ edge, domain, waf, edgeLogs, deletionProtection }: Stage) {
  const zone = domain?.certificateArn === undefined ? domain?.hostedZone : undefined
  return {
    certificate: edge && domain && zone ? { name: domain.name, zone } : undefined,
    firewall: edge && waf !== 'off',
    logs: edge && edgeLogs,
    // Not for these alone in a stage that can be lost: a newcomer's account would have to be bootstrapped twice.
    alarms: edge && (deletionProtection || domain !== undefined || waf !== 'off' || edgeLogs),
  }
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
