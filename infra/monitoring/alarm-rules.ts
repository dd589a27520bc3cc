import { Duration } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import {
  CLOSE_EVERY_MINUTES,
  FUNCTION_TIMEOUT_SECONDS,
  TABLES,
  type TableDefinition,
} from '../../layers/gateway/contract.ts'
import type { Tables } from '../data/tables.ts'
import type { Functions } from '../functions/functions.ts'
import type { Stage } from '../stages.ts'
import { gatewayMetric, IN_FIVE_MINUTES, percentOf, sumOf } from './metrics.ts'

export type Watched = {
  readonly stage: Stage
  readonly functions: Functions
  readonly tables: Tables
  readonly api: HttpApi
  readonly adminApi?: HttpApi | undefined
  readonly distribution: Distribution | undefined
}

export type Rule = {
  readonly says: string
  readonly metric: IMetric
  /** The value from which on the alarm goes off. */
  readonly from: number
  /** How many of the last three periods of its metric, five minutes mostly, must be above it; with 1, it goes off at once. */
  readonly periods: 1 | 2 | 3
  readonly isBadIfMissing?: true
  /** The one region that has the metric: an alarm sees its own region only. */
  readonly onlyIn?: string
}

/** Callers are affected now. */
export function pages({ stage, functions, api, distribution }: Watched): Record<string, Rule> {
  const { chat, sweep, all } = functions
  const requests = gatewayMetric(stage, 'Requests')
  return {
    ServerErrors: {
      says: 'A twentieth of the requests got a 5xx that is the gateway’s own',
      metric: percentOf(gatewayMetric(stage, 'ServerErrors'), requests),
      from: 5,
      periods: 2,
    },
    UpstreamErrors: {
      says: 'A fifth of the requests got a 502, 504 or 503 upstream_rate_limited, because no upstream answered them',
      metric: percentOf(gatewayMetric(stage, 'UpstreamErrors'), requests),
      from: 20,
      periods: 2,
    },
    CredentialFailures: {
      says: 'A provider refuses our key, or there is none',
      metric: gatewayMetric(stage, 'CredentialFailures'),
      from: 1,
      periods: 2,
    },
    ChatErrors: {
      says: 'A twentieth of the chats crashed or timed out',
      metric: percentOf(chat.metricErrors(IN_FIVE_MINUTES), chat.metricInvocations(IN_FIVE_MINUTES)),
      from: 5,
      periods: 2,
    },
    ApiErrors: {
      says: 'A twentieth of the requests to the HTTP API got a 5xx',
      metric: percentOf(api.metricServerError(IN_FIVE_MINUTES), api.metricCount({ period: IN_FIVE_MINUTES.period })),
      from: 5,
      periods: 2,
    },
    FunctionThrottles: {
      says: 'Lambda refuses to start functions',
      metric: sumOf(all.map((fn) => fn.metricThrottles(IN_FIVE_MINUTES))),
      from: 10,
      periods: 2,
    },
    SweepStopped: {
      says: 'No sweep has succeeded for a quarter of an hour',
      metric: withoutSuccess(sweep, IN_FIVE_MINUTES),
      from: 1,
      periods: 3,
      isBadIfMissing: true,
    },
    ...(distribution && { EdgeErrors: edgeErrors(distribution) }),
  }
}

/**
 * The errors of the version that a deployment brings, however few calls it gets: among all calls they would not stand
 * out. Lambda counts by version if an alias has two, which is during a deployment.
 */
function releaseErrors(functions: Functions['called']): Rule {
  const errors = functions.map(({ functionName: FunctionName, live }) => {
    // The alias by its name: a reference to it would wait for the deployment that this alarm is to watch.
    const dimensionsMap = {
      FunctionName,
      Resource: `${FunctionName}:${live.aliasName}`,
      ExecutedVersion: live.version.version,
    }
    return new Metric({ namespace: 'AWS/Lambda', metricName: 'Errors', dimensionsMap, ...IN_FIVE_MINUTES })
  })
  return { says: 'The version that is being deployed crashes or times out', metric: sumOf(errors), from: 3, periods: 1 }
}

/** All errors that viewers see: the gateway's own, the upstreams', and CloudFront's if it does not reach the gateway. */
function edgeErrors(distribution: Distribution): Rule {
  const { period } = IN_FIVE_MINUTES
  // CDK leaves out the second dimension, without which there is no such metric.
  const dimensionsMap = { DistributionId: distribution.distributionId, Region: 'Global' }
  return {
    says: 'A fifth of the requests to CloudFront got a 5xx',
    metric: new MathExpression({
      expression: 'IF(FILL(requests, 0) * FILL(rate, 0) >= 500, FILL(rate, 0), 0)',
      usingMetrics: {
        requests: distribution.metricRequests({ period, dimensionsMap }),
        rate: distribution.metric5xxErrorRate({ period, dimensionsMap }),
      },
      period,
    }),
    from: 20,
    periods: 2,
    onlyIn: 'us-east-1',
  }
}

/** Alarms that can wait for a working day. */
export function tickets(watched: Watched): Record<string, Rule> {
  const { stage, functions, tables, adminApi } = watched
  const { chat, tokenizer, api, admin } = functions
  const of = (metric: string, says: string, from: number, periods: 1 | 2): Record<string, Rule> => ({
    [metric]: { says, metric: gatewayMetric(stage, metric), from, periods },
  })
  return {
    ...(stage.rollout === 'canary' && { ReleaseErrors: releaseErrors(functions.called) }),
    // Apart from the others, for Rollout's sake.
    ...(stage.rollout === 'canary' && admin && { AdminReleaseErrors: releaseErrors([admin]) }),
    ...of('Problems', 'Something that should not happen was logged', 1, 1),
    ...of('InvalidKeys', 'Many requests came without a valid key', 100, 2),
    ...of('Unsettled', 'Requests could not be settled; the sweep will finish them', 1, 1),
    ...of('SweptHolds', 'Requests died under way and were finished by the sweep', 1, 1),
    ...of('RoughEstimates', 'The tokenizer cannot be reached; answers are billed by their characters', 1, 2),
    ...of('UsageRejected', 'Upstreams report usage that is none; the answers are billed by estimate', 5, 2),
    ...of(
      'BilledAtBound',
      'Upstreams counted more than was held for; the hold was charged, which may not cover the bill',
      1,
      1,
    ),
    ...of(
      'ContextExceeded',
      'Upstreams counted prompts above the contextLength of their model, so that holds are too small',
      1,
      1,
    ),
    ...of(
      'BeyondCap',
      'Routes ignore the output cap that they are given; their answers were cut, and may not cover their bill',
      1,
      1,
    ),
    ...of('NegativeMargins', 'Answers cost us more than was charged for them', 1, 1),
    ...of('UnpaidAnswers', 'Answers are given up and reach nobody, but providers may bill them', 20, 2),
    FunctionErrors: {
      says: 'Functions besides chat, the sweep and the admin API crash or time out',
      metric: sumOf([tokenizer, ...Object.values(api)].map((fn) => fn.metricErrors(IN_FIVE_MINUTES))),
      from: 3,
      periods: 2,
    },
    ...(adminApi && {
      AdminErrors: {
        says: 'The admin API answers with 5xx, crashes or times out',
        metric: adminApi.metricServerError(IN_FIVE_MINUTES),
        from: 3,
        periods: 2,
      } satisfies Rule,
    }),
    ChatDuration: {
      says: 'A chat request came close to the function’s limit',
      metric: chat.metricDuration({ ...IN_FIVE_MINUTES, statistic: 'Maximum' }),
      from: FUNCTION_TIMEOUT_SECONDS * 1000 * 0.95,
      periods: 1,
    },
    ...closingRules(watched),
    KeysThrottles: throttlesOf('keys', tables.keys),
    UsageThrottles: throttlesOf('usage', tables.usage),
    AnswersThrottles: throttlesOf('answers', tables.answers),
  }
}

/** Hours, because a run starts every hour. Rows with a limited life must be closed and exported long before its end. */
function closingRules({ stage, functions: { close } }: Watched): Record<string, Rule> {
  const hourly = { period: Duration.minutes(CLOSE_EVERY_MINUTES), statistic: 'Sum' } as const
  return {
    ClosingStopped: {
      says: 'No run that closes days has succeeded for three hours',
      metric: withoutSuccess(close, hourly),
      from: 1,
      periods: 3,
      isBadIfMissing: true,
    },
    DaysBehind: {
      says: 'Days that ended long ago are not closed, or not exported',
      metric: gatewayMetric(stage, 'DaysBehind', 'Maximum').with({ period: hourly.period }),
      from: 2,
      periods: 3,
    },
  }
}

/** 1 for a period without a successful run of a function. */
function withoutSuccess(fn: Functions['close'], options: { period: Duration; statistic: string }): MathExpression {
  return new MathExpression({
    expression: 'IF(FILL(started, 0) - FILL(failed, 0) >= 1, 0, 1)',
    usingMetrics: { started: fn.metricInvocations(options), failed: fn.metricErrors(options) },
    period: options.period,
  })
}

/** The throttles of every operation: the table's own events leave out those of its indexes. */
function throttlesOf(name: keyof typeof TABLES, { tableName: TableName }: TableV2): Rule {
  const { indexes }: TableDefinition = TABLES[name]
  const places = [{ TableName }, ...indexes.map((index) => ({ TableName, GlobalSecondaryIndexName: index.name }))]
  const events = places.flatMap((dimensionsMap) =>
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map(
      (metricName) => new Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap, ...IN_FIVE_MINUTES }),
    ),
  )
  return { says: `DynamoDB throttles the table ${name}`, metric: sumOf(events), from: 10, periods: 2 }
}
