import { Aws } from 'aws-cdk-lib'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import type { Stage } from '../stages.ts'

/** Page: callers are affected now. Ticket: it can wait for a working day. */
export type Topics = { readonly page: Topic; readonly ticket: Topic }

/** In each region that has alarms: an alarm publishes to a topic of its own region only. */
export function addTopics(scope: Construct, { name, alarmEmail, ticketEmail = alarmEmail }: Stage): Topics {
  return {
    page: addTopic(scope, 'Alarms', `Waybill ${name}`, alarmEmail),
    ticket: addTopic(scope, 'Tickets', `Waybill ${name}, tickets`, ticketEmail),
  }
}

/**
 * For notices by EventBridge, apart from the alarms: its right to publish takes no condition ("Using resource-based
 * policies" in its guide), so rules of other accounts that know the topic might use it, too.
 */
export function addNoticeTopic(scope: Construct, { name, alarmEmail, ticketEmail = alarmEmail }: Stage): Topic {
  return subscribed(
    new Topic(scope, 'Notices', { displayName: `Waybill ${name}, notices`, enforceSSL: true }),
    ticketEmail,
  )
}

function addTopic(scope: Construct, id: string, displayName: string, email: string | undefined): Topic {
  const topic = new Topic(scope, id, { displayName, enforceSSL: true })
  // With enforceSSL the topic has a policy of its own, which replaces the default by which its account's alarms may
  // publish.
  const conditions = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } }
  topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }))
  return subscribed(topic, email)
}

function subscribed(topic: Topic, email: string | undefined): Topic {
  if (email) topic.addSubscription(new EmailSubscription(email))
  return topic
}
