import { Duration } from 'aws-cdk-lib'
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Operation } from 'aws-cdk-lib/aws-dynamodb'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import { FUNCTION_TIMEOUT_SECONDS, METRICS_NAMESPACE } from '../layers/gateway/contract.ts'
import type { Functions } from './functions.ts'
import type { Stage } from './stages.ts'
import type { Tables } from './tables.ts'

type Props = {
  readonly stage: Stage
  readonly functions: Functions
  readonly tables: Tables
  /** An address for alarms, besides the topic. */
  readonly email: string | undefined
}

const FIVE_MINUTES = Duration.minutes(5)
const OPERATIONS = [Operation.GET_ITEM, Operation.PUT_ITEM, Operation.UPDATE_ITEM]

/** Alarms that mean something is wrong now, and a dashboard that shows what. */
export class Monitoring extends Construct {
  readonly topic: Topic
  readonly #stage: Stage

  constructor(scope: Construct, id: string, { stage, functions, tables, email }: Props) {
    super(scope, id)
    this.#stage = stage
    this.topic = new Topic(this, 'Alarms', { displayName: `Waybill ${stage.name}`, enforceSSL: true })
    // With enforceSSL the topic has a policy, in place of the default by which its own account's alarms may publish.
    this.topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com'))
    if (email) this.topic.addSubscription(new EmailSubscription(email))
    this.#addAlarms(functions, tables)
    this.#addDashboard(functions)
  }

  #addAlarms(functions: Functions, tables: Tables): void {
    const { chat, sweep, all } = functions
    this.#alarm('ServerErrors', 'Answers with a 5xx status', this.#metric('ServerErrors'), 5)
    this.#alarm('Problems', 'Something that should not happen was logged', this.#metric('Problems'), 1)
    this.#alarm('Unsettled', 'Requests could not be settled; the sweep will finish them', this.#metric('Unsettled'), 1)
    this.#alarm('SweptHolds', 'Requests died under way and were finished by the sweep', this.#metric('SweptHolds'), 1)
    this.#alarm(
      'CredentialFailures',
      'A provider refused our key, or there is none',
      this.#metric('CredentialFailures'),
      1,
    )
    this.#alarm(
      'RoughEstimates',
      'The tokenizer could not be reached; answers were billed by their characters',
      this.#metric('RoughEstimates'),
      1,
    )
    this.#alarm(
      'UsageRejected',
      'Upstreams reported usage that is none; the answers were billed by estimate',
      this.#metric('UsageRejected'),
      5,
    )
    this.#alarm(
      'BilledAtBound',
      'Upstreams counted more than was held for; the hold was charged, which may not cover the bill',
      this.#metric('BilledAtBound'),
      1,
    )
    this.#alarm('NegativeMargins', 'Answers cost us more than was charged for them', this.#metric('NegativeMargins'), 1)
    this.#alarm(
      'UnpaidAnswers',
      'Answers were given up and reached nobody, but providers may bill them',
      this.#metric('UnpaidAnswers'),
      20,
    )
    const errors = all.map((fn) => fn.metricErrors({ period: FIVE_MINUTES }))
    this.#alarm('FunctionErrors', 'A function crashed or timed out', sumOf(errors), 1)
    const throttles = all.map((fn) => fn.metricThrottles({ period: FIVE_MINUTES }))
    this.#alarm('FunctionThrottles', 'Lambda refused to start a function', sumOf(throttles), 1)
    this.#alarm(
      'ChatDuration',
      'A chat request came close to the function’s limit',
      chat.metricDuration({ period: FIVE_MINUTES, statistic: 'Maximum' }),
      FUNCTION_TIMEOUT_SECONDS * 1000 * 0.95,
    )
    this.#alarm('SweepErrors', 'The sweep failed', sweep.metricErrors({ period: FIVE_MINUTES }), 1)
    for (const [name, table] of Object.entries({ Keys: tables.keys, Usage: tables.usage, Answers: tables.answers })) {
      const throttled = OPERATIONS.map((operation) =>
        table.metricThrottledRequestsForOperation(operation, { period: FIVE_MINUTES }),
      )
      this.#alarm(`${name}Throttles`, `DynamoDB throttled the table ${name.toLowerCase()}`, sumOf(throttled), 1)
    }
  }

  #addDashboard({ chat }: Functions): void {
    const by = (name: string, dimension: string, statistic = 'Sum') => this.#search(name, dimension, statistic)
    const graphs: [title: string, metrics: IMetric[]][] = [
      ['Requests and errors', [this.#metric('Requests'), this.#metric('Errors'), this.#metric('ServerErrors')]],
      ['Errors by code', [by('Errors', 'errorCode')]],
      ['Requests by model', [by('Requests', 'model')]],
      ['Requests by provider', [by('Requests', 'provider')]],
      ['Upstream failures', [this.#metric('UpstreamFailures')]],
      ['Time to first token', ['p50', 'p95', 'p99'].map((p) => this.#metric('TimeToFirstToken', p))],
      ['Time to first token by provider (p95)', [by('TimeToFirstToken', 'provider', 'p95')]],
      ['Duration', ['p50', 'p95', 'p99'].map((p) => this.#metric('Duration', p))],
      ['Tokens', [this.#metric('PromptTokens'), this.#metric('CompletionTokens')]],
      ['Tokens by model', [by('PromptTokens', 'model'), by('CompletionTokens', 'model')]],
      ['Credits spent and held', [this.#metric('Credits'), this.#metric('CreditsHeld')]],
      ['Credits by model', [by('Credits', 'model')]],
      ['Charged and what it cost us', [this.#metric('Credits'), this.#metric('UpstreamCost')]],
      ['Usage rejected, billed at the bound', [this.#metric('UsageRejected'), this.#metric('BilledAtBound')]],
      ['Rough estimates', [this.#metric('RoughEstimates')]],
      ['Answers given up, unpaid', [this.#metric('UnpaidAnswers'), by('UnpaidAnswers', 'provider')]],
      ['Holds: unsettled and swept', [this.#metric('Unsettled'), this.#metric('SweptHolds')]],
      ['Chat function', [chat.metricInvocations(), chat.metricErrors(), chat.metricThrottles()]],
    ]
    const widgets = graphs.map(([title, left]) => new GraphWidget({ title, left, width: 12 }))
    const rows = Array.from({ length: Math.ceil(widgets.length / 2) }, (_, i) => widgets.slice(2 * i, 2 * i + 2))
    new Dashboard(this, 'Dashboard', { dashboardName: `Waybill-${this.#stage.name}`, widgets: rows })
  }

  #metric(metricName: string, statistic = 'Sum'): Metric {
    return new Metric({
      namespace: METRICS_NAMESPACE,
      metricName,
      dimensionsMap: { stage: this.#stage.name },
      statistic,
      period: FIVE_MINUTES,
      ...(statistic !== 'Sum' && { label: statistic }),
    })
  }

  /** One line for each value that the dimension has had. */
  #search(name: string, dimension: string, statistic: string): MathExpression {
    const where = `{${METRICS_NAMESPACE},stage,${dimension}} MetricName="${name}" stage="${this.#stage.name}"`
    return new MathExpression({ expression: `SEARCH('${where}', '${statistic}', 300)`, usingMetrics: {}, label: '' })
  }

  #alarm(id: string, description: string, metric: IMetric, threshold: number): void {
    const alarm = new Alarm(this, id, {
      alarmDescription: `Waybill ${this.#stage.name}: ${description}.`,
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
    alarm.addAlarmAction(new SnsAction(this.topic))
  }
}

/** A metric has no data where nothing happened, and a sum with a part missing would be missing itself. */
function sumOf(metrics: IMetric[]): MathExpression {
  const named = Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]))
  const expression = Object.keys(named)
    .map((name) => `FILL(${name}, 0)`)
    .join(' + ')
  return new MathExpression({ expression, usingMetrics: named, period: FIVE_MINUTES })
}
