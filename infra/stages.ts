import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'

/** Everything in which one deployment differs from another. */
export type Stage = {
  readonly name: string
  /** The fate of the tables and logs when the stack is destroyed. */
  readonly removalPolicy: RemovalPolicy
  /** Also makes the operator's commands ask before they change anything. */
  readonly deletionProtection: boolean
  readonly logRetention: RetentionDays
  /** A stream's cost is its time × this, so small is cheap; the worst requests that callers can send take 160 MB in all. */
  readonly chatMemoryMb: number
  readonly apiMemoryMb: number
  /** A whole core: with less of one, the tokenizer would load longer and cost the same. */
  readonly tokenizerMemoryMb: number
  /** Of the HTTP API, for all keys together; a key has its own limits. */
  readonly apiRequestsPerSecond: number
  /** How long a non-streaming answer may take behind CloudFront. */
  readonly edgeTimeout: Duration
  /** Raised by one, it has the next deployment rotate the secret between CloudFront and the functions. */
  readonly originSecretNumber: number
  /** Whether CloudFront takes requests over IPv6. */
  readonly ipv6: boolean
}

const COMMON = {
  chatMemoryMb: 192,
  apiMemoryMb: 512,
  tokenizerMemoryMb: 1_769,
  apiRequestsPerSecond: 500,
  edgeTimeout: Duration.seconds(120),
  originSecretNumber: 1,
  ipv6: true,
}

/** Makes glibc, which node allocates with, give back the memory of a large request: by itself it keeps most of it. */
export const GIVES_MEMORY_BACK = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

const STAGES: Readonly<Record<string, Stage>> = {
  dev: {
    ...COMMON,
    name: 'dev',
    removalPolicy: RemovalPolicy.DESTROY,
    deletionProtection: false,
    logRetention: RetentionDays.TWO_WEEKS,
  },
  prod: {
    ...COMMON,
    name: 'prod',
    removalPolicy: RemovalPolicy.RETAIN,
    deletionProtection: true,
    logRetention: RetentionDays.THREE_MONTHS,
  },
}

export function stageOf(name: unknown): Stage {
  const stage = typeof name === 'string' && Object.hasOwn(STAGES, name) ? STAGES[name] : undefined
  if (!stage) throw new Error(`There is no stage '${name}': use -c stage=${Object.keys(STAGES).join(' or -c stage=')}.`)
  return stage
}
