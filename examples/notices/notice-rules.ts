import { Duration, SecretValue, Stack, type StackProps } from 'aws-cdk-lib'
import * as events from 'aws-cdk-lib/aws-events'
import * as targets from 'aws-cdk-lib/aws-events-targets'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'

type Props = StackProps & {
  /** The output EventBus of the stage. */
  readonly busName: string
  /** Gets every notice by POST, with the header `authorization`. */
  readonly webhook: { readonly url: string; readonly secretName: string }
  /** Gets a mail for every key that runs out of credits. */
  readonly email: string
}

/** Three ways to get the notices of a stage. Copy the one that you need into a stack of your own. */
export class NoticeRules extends Stack {
  constructor(scope: Construct, id: string, { busName, webhook, email, ...props }: Props) {
    super(scope, id, props)
    const bus = events.EventBus.fromEventBusName(this, 'Bus', busName)
    // Keeps the notices that a target did not take within a day.
    const deadLetterQueue = new Queue(this, 'NotTaken', { ...QUEUE, retentionPeriod: Duration.days(14) })
    const retries = { deadLetterQueue, maxEventAge: Duration.days(1), retryAttempts: 185 }
    const all = { source: ['waybill'] }

    // To a webhook. EventBridge signs no body: the secret in the header proves where a notice comes from.
    const connection = new events.Connection(this, 'Connection', {
      authorization: events.Authorization.apiKey('authorization', SecretValue.secretsManager(webhook.secretName)),
    })
    const destination = new events.ApiDestination(this, 'Webhook', {
      connection,
      endpoint: webhook.url,
      httpMethod: events.HttpMethod.POST,
      rateLimitPerSecond: 10,
    })
    const body = events.RuleTargetInput.fromEventPath('$.detail')
    new events.Rule(this, 'ToWebhook', {
      eventBus: bus,
      eventPattern: all,
      targets: [new targets.ApiDestination(destination as events.IApiDestination, { event: body, ...retries })],
    })

    // To people, by mail.
    const topic = new Topic(this, 'Mail', { enforceSSL: true })
    topic.addSubscription(new EmailSubscription(email))
    const words = `${events.EventField.fromPath('$.detail-type')}: the key ${events.EventField.fromPath('$.detail.data.key_name')} (${events.EventField.fromPath('$.detail.data.key_id')})`
    new events.Rule(this, 'ToMail', {
      eventBus: bus,
      eventPattern: { ...all, detailType: ['key.balance_low', 'key.credit_balance_exhausted'] },
      targets: [new targets.SnsTopic(topic, { message: events.RuleTargetInput.fromText(words), ...retries })],
    })

    // To a program of your own, by a queue.
    const queue = new Queue(this, 'Notices', {
      ...QUEUE,
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: 5 },
    })
    new events.Rule(this, 'ToQueue', {
      eventBus: bus,
      eventPattern: all,
      targets: [new targets.SqsQueue(queue, { message: body, ...retries })],
    })
  }
}

const QUEUE = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true }
