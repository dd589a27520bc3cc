import { Stack, Validations } from 'aws-cdk-lib'
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'
import { HttpApi, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { removalPolicyOf } from '../data/retention.ts'
import type { Functions } from '../functions/functions.ts'
import type { Stage } from '../stages.ts'

/** Everything but chat: short answers that need no streaming, by one function, which knows the paths. */
export class Api extends Construct {
  readonly api: HttpApi
  readonly logs: LogGroup

  constructor(scope: Construct, id: string, { stage, functions }: { stage: Stage; functions: Functions }) {
    super(scope, id)
    this.api = new HttpApi(this, 'HttpApi', {
      apiName: `Waybill-${stage.name}`,
      description: `Waybill ${stage.name}`,
      createDefaultStage: false,
      defaultIntegration: new HttpLambdaIntegration('Api', functions.api.live),
    })
    Validations.of(this.api).acknowledge({
      id: 'AwsSolutions::AwsSolutions-APIG4',
      reason:
        'Every route is authenticated by the function itself: the bearer key is checked in the write that admits the call.',
    })
    this.logs = addLoggedStage(this, { stage, api: this.api, requestsPerSecond: stage.apiRequestsPerSecond })
  }
}

type LoggedStage = {
  readonly stage: Stage
  readonly api: HttpApi
  readonly requestsPerSecond: number
  /** Fields in addition to those that are logged of every call. */
  readonly logged?: Readonly<Record<string, string>>
}

/** The stage of an API, with a limit for all callers together and a log. */
export function addLoggedStage(scope: Construct, { stage, api, requestsPerSecond, logged }: LoggedStage): LogGroup {
  const logs = new LogGroup(scope, 'AccessLogs', {
    // API Gateway adds a group of another name to a policy that all of its logs in the account share, and that ends at
    // 5,120 characters. By its fixed name, a log that outlived its stack is adopted by the next one.
    logGroupName: `/aws/vendedlogs/${Stack.of(scope).stackName}/${scope.node.id}`,
    retention: stage.logRetentionDays,
    removalPolicy: removalPolicyOf(stage),
  })
  new HttpStage(scope, 'Stage', {
    httpApi: api,
    stageName: '$default',
    autoDeploy: true,
    throttle: { rateLimit: requestsPerSecond, burstLimit: requestsPerSecond },
    accessLogSettings: {
      destination: new LogGroupLogDestination(logs),
      // No header, no query and no path parameter: a key sent in the wrong place must not end up here.
      format: AccessLogFormat.custom(
        JSON.stringify({
          requestId: '$context.requestId',
          time: '$context.requestTime',
          method: '$context.httpMethod',
          status: '$context.status',
          ip: '$context.identity.sourceIp',
          latencyMs: '$context.responseLatency',
          error: '$context.error.message',
          ...logged,
        }),
      ),
    },
  })
  return logs
}
