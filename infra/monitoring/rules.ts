import { Duration } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import {
  FUNCTION_TIMEOUT_SECONDS,
  METRICS_NAMESPACE,
  TABLES,
  type TableDefinition,
  versionName,
} from '../../layers/gateway/names.ts'
import type { Tables } from '../data/tables.ts'
import type { Functions } from '../functions/functions.ts'
import type { GatewayFunction } from '../functions/gateway-function.ts'
import type { Stage } from '../stages.ts'
import { gatewayMetric, IN_FIVE_MINUTES, percentOf, type Rule, type Rules, sumOf, withoutSuccess } from './alarms.ts'
import { type AlarmName, LEAST_CERTIFICATE_DAYS } from './words.ts'

export type Watched = {
  readonly stage: Stage
  readonly functions: Functions
  readonly tables: Tables
  readonly api: HttpApi
  readonly adminApi: HttpApi
}

/** CloudFront and its parts, whose metrics are in us-east-1 only: an alarm sees its own region only. */
export type WatchedEdge = {
  readonly certificateArn: string | undefined
  readonly webAcl: { readonly stackName: string } | undefined
  readonly distributionId: string
}

const { period } = IN_FIVE_MINUTES
const MOST = { period, statistic: 'Maximum' } as const
const HOURLY = { period: Duration.hours(1), statistic: 'Sum' } as const

export function pages({ stage, functions: { chat, sweep, probe, all }, api }: Watched): Rules {
  const ofRequests = (name: string) => percentOf(gatewayMetric(stage, name), gatewayMetric(stage, 'Requests'))
  return {
    ServerErrors: { metric: ofRequests('ServerErrors'), from: 5 },
    UpstreamErrors: { metric: ofRequests('UpstreamErrors'), from: 20 },
    CredentialFailures: { metric: gatewayMetric(stage, 'CredentialFailures') },
    ChatErrors: {
      metric: percentOf(chat.metricErrors(IN_FIVE_MINUTES), chat.metricInvocations(IN_FIVE_MINUTES)),
      from: 5,
    },
    ApiErrors: { metric: percentOf(api.metricServerError(IN_FIVE_MINUTES), api.metricCount({ period })), from: 5 },
    FunctionThrottles: {
      // CloudWatch adds up ten metrics at most. A probe that cannot start is a ProbeFailed.
      metric: sumOf(all.filter((fn) => fn !== probe).map((fn) => fn.metricThrottles(IN_FIVE_MINUTES))),
      from: 10,
    },
    ApiThrottles: { metric: gatewayMetric(stage, 'ApiThrottles'), from: 10 },
    SweepStopped: withoutSuccess(sweep, IN_FIVE_MINUTES),
    ...(probe && { ProbeFailed: withoutSuccess(probe, IN_FIVE_MINUTES) }),
  }
}

/** All errors that viewers see: the gateway's own, the upstreams', and CloudFront's if it does not reach the gateway. */
export function edgePages({ distributionId: DistributionId }: WatchedEdge): Rules {
  const dimensionsMap = { DistributionId, Region: 'Global' }
  const metric = (metricName: string, statistic: string) =>
    new Metric({ namespace: 'AWS/CloudFront', metricName, statistic, dimensionsMap, period })
  return {
    EdgeErrors: {
      metric: new MathExpression({
        expression: 'IF(FILL(requests, 0) * FILL(rate, 0) >= 500, FILL(rate, 0), 0)',
        usingMetrics: { requests: metric('Requests', 'Sum'), rate: metric('5xxErrorRate', 'Average') },
        period,
      }),
      from: 20,
    },
  }
}

export function tickets(watched: Watched): Rules {
  const { stage, functions, tables, adminApi } = watched
  const { chat, tokenizer, api, close } = functions
  return {
    // Apart from each other, for Rollout's sake.
    ...(stage.rollout === 'canary' && {
      ReleaseErrors: { metric: releaseErrors(stage, functions.called), from: 5, periods: 1 },
      AdminReleaseErrors: { metric: ofNewVersion(functions.admin, 'Errors'), from: 3, periods: 1 },
    }),
    ...countRules(stage),
    // Their limits are guesses.
    SlowFirstTokens: {
      metric: gatewayMetric(stage, 'TimeToFirstToken', 'p95'),
      from: stage.slowFirstTokenMs,
      ignoresFew: true,
    },
    SlowRequests: { metric: gatewayMetric(stage, 'Duration', 'p95'), from: 300_000, ignoresFew: true },
    FunctionErrors: { metric: sumOf([tokenizer, api].map((fn) => fn.metricErrors(IN_FIVE_MINUTES))), from: 3 },
    AdminErrors: { metric: adminApi.metricServerError(IN_FIVE_MINUTES), from: 3 },
    ChatDuration: { metric: chat.metricDuration(MOST), from: FUNCTION_TIMEOUT_SECONDS * 1000 * 0.95, periods: 1 },
    // Only if the stage reserves some: Lambda is not among the services whose usage CloudWatch compares with their quota
    // ("Visualizing your service quotas and setting alarms" in its guide). The maximum, as monitoring-concurrency in
    // Lambda's guide has it.
    ...(stage.chatConcurrency !== null && {
      ConcurrencyHigh: {
        metric: chat.metric('ConcurrentExecutions', MOST),
        from: Math.ceil(stage.chatConcurrency * 0.8),
      },
    }),
    // Rows with a limited life must be closed and exported long before its end.
    ClosingStopped: withoutSuccess(close, HOURLY),
    DaysBehind: {
      metric: gatewayMetric(stage, 'DaysBehind', 'Maximum').with({ period: HOURLY.period }),
      from: 2,
      periods: 3,
    },
    // Asked by each run that closes days, so its metric has an hour to be sure of three.
    ...(stage.keysTrail && {
      TrailStopped: { metric: gatewayMetric(stage, 'TrailStopped').with({ period: HOURLY.period }), periods: 1 },
    }),
    KeysThrottles: throttlesOf(tables, 'keys'),
    UsageThrottles: throttlesOf(tables, 'usage'),
    AnswersThrottles: throttlesOf(tables, 'answers'),
  }
}

/** Counts that go off with the first one, and those that do so from a number on, if it lasts. */
const AT_ONCE: readonly AlarmName[] = [
  ...(['Problems', 'Unsettled', 'SweptHolds', 'BilledAtBound', 'ContextExceeded', 'BeyondCap'] as const),
  ...(['NegativeMargins', 'LossReached'] as const),
]
const FROM = { InvalidKeys: 100, RoughEstimates: 1, UsageRejected: 5, UnpaidAnswers: 20 }

function countRules(stage: Stage): Rules {
  const atOnce = AT_ONCE.map((name) => [name, { metric: gatewayMetric(stage, name), periods: 1 }])
  const lasting = Object.entries(FROM).map(([name, from]) => [name, { metric: gatewayMetric(stage, name), from }])
  return Object.fromEntries([...atOnce, ...lasting])
}

/** In percent of the new version's own calls: among all calls they would not stand out. Three crashes are all of them. */
function releaseErrors({ name: stage }: Stage, functions: Functions['called']): MathExpression {
  const metrics = functions.map((fn, i) => ({
    [`crashed${i}`]: ofNewVersion(fn, 'Errors'),
    [`called${i}`]: ofNewVersion(fn, 'Invocations'),
    [`failed${i}`]: countOf(METRICS_NAMESPACE, 'ServerErrors', {
      stage,
      version: versionName(fn.functionName, fn.live.version.version),
    }),
  }))
  const shares = functions.map((_, i) => {
    const [crashed, called, failed] = ['crashed', 'called', 'failed'].map((name) => `FILL(${name}${i}, 0)`)
    const share = `IF(${called} > 0, 100 * ${failed} / FILL(called${i}, 1), 0)`
    return `IF(${crashed} >= 3, 100, IF(${failed} >= 3, ${share}, 0))`
  })
  return new MathExpression({ expression: shares.join(' + '), usingMetrics: Object.assign({}, ...metrics), period })
}

/** Lambda counts by version if an alias has two, which is during a deployment. */
function ofNewVersion({ functionName: FunctionName, live }: GatewayFunction, name: string): Metric {
  // The alias by its name: a reference to it would wait for the deployment that this alarm is to watch.
  const Resource = `${FunctionName}:${live.aliasName}`
  return countOf('AWS/Lambda', name, { FunctionName, Resource, ExecutedVersion: live.version.version })
}

function countOf(namespace: string, metricName: string, dimensionsMap: Record<string, string>): Metric {
  return new Metric({ namespace, metricName, dimensionsMap, ...IN_FIVE_MINUTES })
}

/** The throttles of every operation: the table's own events leave out those of its indexes. */
function throttlesOf(tables: Tables, name: keyof typeof TABLES): Rule {
  const { tableName: TableName } = tables[name]
  const { indexes }: TableDefinition = TABLES[name]
  const places = [{ TableName }, ...indexes.map((index) => ({ TableName, GlobalSecondaryIndexName: index.name }))]
  const events = ['ReadThrottleEvents', 'WriteThrottleEvents']
  const metric = sumOf(places.flatMap((place) => events.map((event) => countOf('AWS/DynamoDB', event, place))))
  return { metric, from: 10 }
}

export function edgeTickets({ webAcl, certificateArn }: WatchedEdge): Rules {
  const blocked = (WebACL: string) => countOf('AWS/WAFV2', 'BlockedRequests', { WebACL, Rule: 'ALL' })
  return {
    // CloudFront's firewalls have no region ("AWS WAF metrics and dimensions" in its guide).
    ...(webAcl && { FirewallBlocks: { metric: blocked(webAcl.stackName), from: 100 } }),
    ...(certificateArn !== undefined && { CertificateEnds: certificateEnds(certificateArn) }),
  }
}

/** ACM publishes it twice a day ("Supported CloudWatch metrics" in its guide). */
function certificateEnds(CertificateArn: string): Rule {
  const daily = { period: Duration.days(1) }
  const days = new Metric({
    namespace: 'AWS/CertificateManager',
    metricName: 'DaysToExpiry',
    dimensionsMap: { CertificateArn },
    statistic: 'Minimum',
    ...daily,
  })
  const expression = `IF(days <= ${LEAST_CERTIFICATE_DAYS}, 1, 0)`
  return { metric: new MathExpression({ expression, usingMetrics: { days }, ...daily }), periods: 1 }
}
