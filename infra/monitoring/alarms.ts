import { Aws, CfnCondition, Fn } from 'aws-cdk-lib'
import { Alarm, type CfnAlarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import type { Stage } from '../stages.ts'
import { pages, type Rule, tickets, type Watched } from './alarm-rules.ts'

/** Page: callers are affected now. Ticket: it can wait for a working day. */
export type Topics = { readonly page: Topic; readonly ticket: Topic }

/** By name. */
export type Alarms = ReadonlyMap<string, Alarm>

export function addAlarms(scope: Construct, topics: Topics, watched: Watched): Alarms {
  const { stage } = watched
  const alarms = new Map<string, Alarm>()
  const add = (rules: Record<string, Rule>, topic: Topic) => {
    for (const [id, rule] of Object.entries(rules)) alarms.set(id, addAlarm(scope, id, stage, rule, topic))
  }
  add(pages(watched), topics.page)
  add(tickets(watched), topics.ticket)
  return alarms
}

function addAlarm(scope: Construct, id: string, stage: Stage, rule: Rule, topic: Topic): Alarm {
  const alarm = new Alarm(scope, id, {
    alarmDescription: `Waybill ${stage.name}: ${rule.says}.`,
    metric: rule.metric,
    threshold: rule.from,
    datapointsToAlarm: rule.periods,
    evaluationPeriods: rule.periods === 1 ? 1 : 3,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: rule.isBadIfMissing ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  })
  alarm.addAlarmAction(new SnsAction(topic))
  alarm.addOkAction(new SnsAction(topic))
  if (rule.onlyIn) {
    const condition = new CfnCondition(alarm, 'Here', { expression: Fn.conditionEquals(Aws.REGION, rule.onlyIn) })
    const resource = alarm.node.defaultChild as CfnAlarm
    resource.cfnOptions.condition = condition
  }
  return alarm
}
