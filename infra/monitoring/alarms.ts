import { Duration } from 'aws-cdk-lib'
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import { METRICS_NAMESPACE } from '../../layers/gateway/names.ts'
import type { Stage } from '../stages.ts'
import { type AlarmName, describe } from './words.ts'

export type Rule = {
  readonly metric: IMetric
  /** The value from which on the alarm goes off, if it is not 1. */
  readonly from?: number
  /** How many of the last three periods of its metric must be above it, if not 2; with 1, it goes off at once. */
  readonly periods?: 1 | 3
  readonly isBadIfMissing?: true
  /** A percentile changes no state by fewer requests than it needs to mean something. */
  readonly ignoresFew?: true
}

export type Rules = Readonly<Partial<Record<AlarmName, Rule>>>
export type Alarms = Readonly<Partial<Record<AlarmName, Alarm>>>

export function addAlarms(scope: Construct, stage: Stage, topic: Topic, rules: Rules): Alarms {
  const named = Object.entries(rules) as [AlarmName, Rule][]
  return Object.fromEntries(named.map(([name, rule]) => [name, addAlarm(scope, name, stage, rule, topic)]))
}

function addAlarm(scope: Construct, name: AlarmName, stage: Stage, rule: Rule, topic: Topic): Alarm {
  const { metric, from = 1, periods = 2, ignoresFew, isBadIfMissing } = rule
  const alarm = new Alarm(scope, name, {
    alarmDescription: describe(stage, name),
    metric,
    threshold: from,
    datapointsToAlarm: periods,
    evaluationPeriods: periods === 1 ? 1 : 3,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    ...(ignoresFew && { evaluateLowSampleCountPercentile: 'ignore' }),
    treatMissingData: isBadIfMissing ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  })
  alarm.addAlarmAction(new SnsAction(topic))
  alarm.addOkAction(new SnsAction(topic))
  return alarm
}

const period = Duration.minutes(5)
export const IN_FIVE_MINUTES = { period, statistic: 'Sum' } as const

export function gatewayMetric({ name: stage }: Stage, metricName: string, statistic = 'Sum'): Metric {
  return new Metric({ namespace: METRICS_NAMESPACE, metricName, dimensionsMap: { stage }, statistic, period })
}

/** A metric without events has no data, and a sum with a missing part would be missing itself. */
export function sumOf(metrics: readonly IMetric[]): MathExpression {
  const named = Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]))
  const filled = Object.keys(named).map((name) => `FILL(${name}, 0)`)
  return new MathExpression({ expression: filled.join(' + '), usingMetrics: named, period })
}

/** In percent, and 0 below five: one failure of one request is no outage. */
export function percentOf(part: IMetric, whole: IMetric): MathExpression {
  const expression = 'IF(FILL(part, 0) >= 5, 100 * FILL(part, 0) / FILL(whole, 1), 0)'
  return new MathExpression({ expression, usingMetrics: { part, whole }, period })
}

export function withoutSuccess(fn: IFunction, options: { period: Duration; statistic: string }): Rule {
  const metric = new MathExpression({
    expression: 'IF(FILL(started, 0) - FILL(failed, 0) >= 1, 0, 1)',
    usingMetrics: { started: fn.metricInvocations(options), failed: fn.metricErrors(options) },
    period: options.period,
  })
  return { metric, periods: 3, isBadIfMissing: true }
}
