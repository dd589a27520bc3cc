import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import type { Stage } from '../stages.ts'
import { describe, type Rule, type Rules } from './rule.ts'

/** By name. */
export type Alarms = Readonly<Record<string, Alarm>>

export function addAlarms(scope: Construct, stage: Stage, topic: Topic, rules: Rules): Alarms {
  const named = Object.entries(rules)
  return Object.fromEntries(named.map(([name, rule]) => [name, addAlarm(scope, name, stage, rule, topic)]))
}

function addAlarm(scope: Construct, name: string, stage: Stage, rule: Rule, topic: Topic): Alarm {
  const alarm = new Alarm(scope, name, {
    alarmDescription: describe(stage, name, rule),
    metric: rule.metric,
    threshold: rule.from,
    datapointsToAlarm: rule.periods,
    evaluationPeriods: rule.periods === 1 ? 1 : 3,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    ...(rule.ignoresFew && { evaluateLowSampleCountPercentile: 'ignore' }),
    treatMissingData: rule.isBadIfMissing ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  })
  alarm.addAlarmAction(new SnsAction(topic))
  alarm.addOkAction(new SnsAction(topic))
  return alarm
}
