import { Aws } from 'aws-cdk-lib'
import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { Stage } from '../stages.ts'
import { type Alarms, addAlarms, type Rules } from './alarms.ts'
import { addDashboard, addSavedQueries } from './dashboard.ts'
import { edgePages, edgeTickets, pages, tickets, type Watched, type WatchedEdge } from './rules.ts'

export class Monitoring extends Construct {
  readonly alarms: Alarms
  readonly topics: Topics
  readonly dashboardUrl: string

  /** `edge` if the stack is in us-east-1, with CloudFront's metrics. */
  constructor(
    scope: Construct,
    id: string,
    { edge, ...watched }: Watched & { readonly edge?: WatchedEdge | undefined },
  ) {
    super(scope, id)
    const { stage, functions } = watched
    const { topics, alarms } = addAlarmsAndTopics(
      this,
      stage,
      { ...pages(watched), ...(edge && edgePages(edge)) },
      { ...tickets(watched), ...(edge && edgeTickets(edge)) },
    )
    this.topics = topics
    this.alarms = alarms
    this.dashboardUrl = addDashboard(this, stage, functions)
    addSavedQueries(this, stage, functions)
    this.#addBudget(stage)
  }

  /** For the whole account: Bedrock's bill, for one, has no tag of the stack. */
  #addBudget({ monthlyBudgetUsd: amount, alarmEmail: address }: Stage): void {
    if (amount === undefined || address === undefined) return
    const mail = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: { notificationType, threshold, thresholdType: 'PERCENTAGE', comparisonOperator: 'GREATER_THAN' },
      subscribers: [{ subscriptionType: 'EMAIL', address }],
    })
    new CfnBudget(this, 'Budget', {
      // It has no name: another address makes a new budget before the old one is gone.
      budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount, unit: 'USD' } },
      notificationsWithSubscribers: [mail('ACTUAL', 80), mail('FORECASTED', 100)],
    })
  }
}

/** The alarms in us-east-1 of a stage in another region. */
export class EdgeMonitoring extends Construct {
  constructor(scope: Construct, stage: Stage, edge: WatchedEdge) {
    super(scope, 'Monitoring')
    addAlarmsAndTopics(this, stage, edgePages(edge), edgeTickets(edge))
  }
}

/** Page: callers are affected now. Ticket: it can wait for a working day. */
type Topics = { readonly page: Topic; readonly ticket: Topic }

/** In each region that has alarms: an alarm publishes to a topic of its own region only. */
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

export function mailedTopic(scope: Construct, id: string, displayName: string, email: string | undefined): Topic {
  const topic = new Topic(scope, id, { displayName, enforceSSL: true })
  if (email) topic.addSubscription(new EmailSubscription(email))
  return topic
}
