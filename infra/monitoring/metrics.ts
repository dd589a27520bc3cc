import { Duration } from 'aws-cdk-lib'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { METRICS_NAMESPACE } from '../../layers/gateway/names.ts'
import type { Stage } from '../stages.ts'

const period = Duration.minutes(5)
export const IN_FIVE_MINUTES = { period, statistic: 'Sum' } as const

/** A metric of the gateway's log. */
export function gatewayMetric({ name: stage }: Stage, metricName: string, statistic = 'Sum'): Metric {
  return new Metric({ namespace: METRICS_NAMESPACE, metricName, dimensionsMap: { stage }, statistic, period })
}

/** A metric without events has no data, and a sum with a missing part would be missing itself. */
export function sumOf(metrics: readonly IMetric[]): MathExpression {
  const named = Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]))
  const expression = Object.keys(named)
    .map((name) => `FILL(${name}, 0)`)
    .join(' + ')
  return new MathExpression({ expression, usingMetrics: named, period })
}

/** In percent, and 0 below this number of requests: one failure of one request is no outage. */
export function percentOf(part: IMetric, whole: IMetric, atLeast = 5): MathExpression {
  const expression = `IF(FILL(part, 0) >= ${atLeast}, 100 * FILL(part, 0) / FILL(whole, 1), 0)`
  return new MathExpression({ expression, usingMetrics: { part, whole }, period })
}

/** 1 for a period without a successful run of a function. */
export function withoutSuccess(fn: IFunction, options: { period: Duration; statistic: string }): MathExpression {
  return new MathExpression({
    expression: 'IF(FILL(started, 0) - FILL(failed, 0) >= 1, 0, 1)',
    usingMetrics: { started: fn.metricInvocations(options), failed: fn.metricErrors(options) },
    period: options.period,
  })
}
