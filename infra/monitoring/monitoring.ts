import { Aws } from 'aws-cdk-lib'
import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { Stage } from '../stages.ts'
import type { Watched } from './alarm-rules.ts'
import { type Alarms, addAlarms } from './alarms.ts'
import { addDashboard } from './dashboard.ts'

/** Alarms for faults, a dashboard that shows them, and a budget. */
export class Monitoring extends Construct {
  readonly alarms: Alarms

  constructor(scope: Construct, id: string, watched: Watched) {
    super(scope, id)
    const { stage, functions } = watched
    const { alarmEmail, ticketEmail = alarmEmail } = stage
    this.alarms = addAlarms(
      this,
      {
        page: this.#topic('Alarms', `Waybill ${stage.name}`, alarmEmail),
        ticket: this.#topic('Tickets', `Waybill ${stage.name}, tickets`, ticketEmail),
      },
      watched,
    )
    addDashboard(this, stage, functions)
    this.#addBudget(stage)
  }

  #topic(id: string, displayName: string, email: string | undefined): Topic {
    const topic = new Topic(this, id, { displayName, enforceSSL: true })
    // With enforceSSL the topic has a policy of its own, which replaces the default by which its account's alarms may
    // publish.
    const conditions = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } }
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }))
    if (email) topic.addSubscription(new EmailSubscription(email))
    return topic
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
