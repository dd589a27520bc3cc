import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import { Construct } from 'constructs'
import type { Stage } from '../stages.ts'
import { type Alarms, addAlarms } from './alarms.ts'
import { addDashboard } from './dashboard.ts'
import { edgePages, edgeTickets, type WatchedEdge } from './edge-rules.ts'
import { pages, type Watched } from './page-rules.ts'
import { addSavedQueries } from './saved-queries.ts'
import { tickets } from './ticket-rules.ts'
import { addTopics, type Topics } from './topics.ts'

/** Alarms for faults, a dashboard that shows them, and a budget. */
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
    this.topics = addTopics(this, stage)
    const { page, ticket } = this.topics
    this.alarms = {
      ...addAlarms(this, stage, page, { ...pages(watched), ...(edge && edgePages(edge)) }),
      ...addAlarms(this, stage, ticket, { ...tickets(watched), ...(edge && edgeTickets(edge)) }),
    }
    this.dashboardUrl = addDashboard(this, stage, functions)
    addSavedQueries(
      this,
      stage,
      functions.all.map((fn) => fn.logGroup),
    )
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
      // Without a name: another address makes a new budget before the old one is gone.
      budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount, unit: 'USD' } },
      notificationsWithSubscribers: [mail('ACTUAL', 80), mail('FORECASTED', 100)],
    })
  }
}

/** The alarms in us-east-1 of a stage in another region. */
export class EdgeMonitoring extends Construct {
  constructor(scope: Construct, id: string, { stage, edge }: { readonly stage: Stage; readonly edge: WatchedEdge }) {
    super(scope, id)
    const { page, ticket } = addTopics(this, stage)
    addAlarms(this, stage, page, edgePages(edge))
    addAlarms(this, stage, ticket, edgeTickets(edge))
  }
}
