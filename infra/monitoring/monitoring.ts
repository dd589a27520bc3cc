import { Aws } from 'aws-cdk-lib'
import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import { EventField, type EventPattern, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events'
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { Stage } from '../stages.ts'
import { type Alarms, addAlarms, type Rules } from './alarms.ts'
import { addDashboard, addSavedQueries } from './dashboard.ts'
import { edgePages, edgeTickets, pages, tickets, type Watched, type WatchedEdge } from './rules.ts'
import { type AlarmName, describe } from './words.ts'

type Props = Watched & { readonly edge: WatchedEdge | undefined }

export function addMonitoring(parent: Construct, { edge, ...watched }: Props) {
  const scope = new Construct(parent, 'Monitoring')
  const { stage, functions } = watched
  const paging = { ...pages(watched), ...(edge && edgePages(edge)) }
  const made = addAlarmsAndTopics(scope, stage, paging, { ...tickets(watched), ...(edge && edgeTickets(edge)) })
  const dashboardUrl = addDashboard(scope, stage, functions)
  addSavedQueries(scope, stage, functions)
  addBudget(scope, stage)
  return { ...made, dashboardUrl }
}

/** For the whole account: Bedrock's bill, for one, has no tag of the stack. */
function addBudget(scope: Construct, { monthlyBudgetUsd: amount, alarmEmail: address }: Stage): void {
  if (amount === undefined || address === undefined) return
  const mail = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
    notification: { notificationType, threshold, thresholdType: 'PERCENTAGE', comparisonOperator: 'GREATER_THAN' },
    subscribers: [{ subscriptionType: 'EMAIL', address }],
  })
  new CfnBudget(scope, 'Budget', {
    // It has no name: another address makes a new budget before the old one is gone.
    budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount, unit: 'USD' } },
    notificationsWithSubscribers: [mail('ACTUAL', 80), mail('FORECASTED', 100)],
  })
}

export function addEdgeMonitoring(parent: Construct, stage: Stage, edge: WatchedEdge): Construct {
  const scope = new Construct(parent, 'Monitoring')
  addAlarmsAndTopics(scope, stage, edgePages(edge), edgeTickets(edge))
  return scope
}

/** An alarm publishes to a topic of its own region only, so each region with alarms has both topics. */
function addAlarmsAndTopics(scope: Construct, stage: Stage, paging: Rules, ticketing: Rules) {
  const { name, alarmEmail, ticketEmail = alarmEmail } = stage
  const page = mailedTopic(scope, 'Alarms', `Waybill ${name}`, alarmEmail)
  const ticket = mailedTopic(scope, 'Tickets', `Waybill ${name}, tickets`, ticketEmail)
  // With enforceSSL a topic has a policy of its own, which replaces the default by which its account's alarms may publish.
  const conditions = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } }
  for (const topic of [page, ticket]) {
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }))
  }
  const alarms: Alarms = { ...addAlarms(scope, stage, page, paging), ...addAlarms(scope, stage, ticket, ticketing) }
  return { topics: { page, ticket }, alarms }
}

function mailedTopic(scope: Construct, id: string, displayName: string, email: string | undefined): Topic {
  const topic = new Topic(scope, id, { displayName, enforceSSL: true })
  if (email) topic.addSubscription(new EmailSubscription(email))
  return topic
}

/** The topic is apart from those of alarms: EventBridge's right to publish takes no condition, so others might use it. */
export function addNotice(
  scope: Construct,
  stage: Stage,
  name: AlarmName,
  fields: readonly string[],
  eventPattern: EventPattern,
): void {
  const { alarmEmail, ticketEmail = alarmEmail } = stage
  const description = describe(stage, name)
  const told = fields.map((field) => EventField.fromPath(`$.detail.${field}`))
  const message = RuleTargetInput.fromText(`${description}\n${told.join(' ')}`)
  const topic = mailedTopic(scope, 'Notices', `Waybill ${stage.name}, notices`, ticketEmail)
  new Rule(scope, name, { description, eventPattern, targets: [new SnsTopic(topic, { message })] })
}
