import { Stack } from 'aws-cdk-lib'
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'
import { HttpApi, HttpMethod, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { ADMIN_PATHS } from '../layers/gateway/endpoints.ts'
import { METRICS_NAMESPACE } from '../layers/gateway/names.ts'
import { acknowledge } from './acknowledge.ts'
import { addLogs } from './data/retention.ts'
import type { Functions } from './functions/functions.ts'
import type { Stage } from './stages.ts'

type LoggedApi = { readonly api: HttpApi; readonly logs: LogGroup }

/** Everything but chat: short answers that need no streaming, by one function, which knows the paths. */
export function addApi(parent: Construct, stage: Stage, functions: Functions): LoggedApi {
  const scope = new Construct(parent, 'Api')
  const api = new HttpApi(scope, 'HttpApi', {
    apiName: `Waybill-${stage.name}`,
    description: `Waybill ${stage.name}`,
    createDefaultStage: false,
    defaultIntegration: new HttpLambdaIntegration('Api', functions.api.live),
  })
  const reason =
    'Every route is authenticated by the function itself: the bearer key is checked in the write that admits the call.'
  acknowledge(api, 'APIG4', reason)
  return { api, logs: addLoggedStage(scope, api, stage, stage.apiRequestsPerSecond) }
}

/** The few people and programs that administer use it. */
const ADMIN_REQUESTS_PER_SECOND = 20

// Not behind CloudFront, which would replace the Host that a signature covers. AWS refuses every call that is not
// signed, except on the path for admin keys, where the function asks for one.
export function addAdminApi(parent: Construct, stage: Stage, functions: Functions): LoggedApi {
  const scope = new Construct(parent, 'AdminApi')
  const api = new HttpApi(scope, 'HttpApi', {
    apiName: `Waybill-${stage.name}-admin`,
    description: `Waybill ${stage.name} admin`,
    createDefaultStage: false,
  })
  const route = { methods: [HttpMethod.ANY], integration: new HttpLambdaIntegration('Admin', functions.admin.live) }
  api.addRoutes({ ...route, path: `${ADMIN_PATHS.signed}/{proxy+}`, authorizer: new HttpIamAuthorizer() })
  const keyed = stage.adminKeys ? api.addRoutes({ ...route, path: `${ADMIN_PATHS.keyed}/{proxy+}` }) : []
  const reason = 'The function itself demands an admin key on this path, and reads it from the table at every call.'
  for (const it of keyed) acknowledge(it, 'APIG4', reason)
  const logged = { user: '$context.identity.userArn' }
  return { api, logs: addLoggedStage(scope, api, stage, ADMIN_REQUESTS_PER_SECOND, logged) }
}

/** The stage of an API, with a limit for all callers together, and a log, which may have fields of its own. */
function addLoggedStage(scope: Construct, httpApi: HttpApi, stage: Stage, rateLimit: number, logged = {}): LogGroup {
  // A group of another name is added to a policy of 5,120 characters at most, which all logs of API Gateway share.
  const logs = addLogs(scope, 'AccessLogs', stage, `/aws/vendedlogs/${Stack.of(scope).stackName}/${scope.node.id}`)
  // API Gateway's own refusals have a message, and those of the function none; it has no metric of them.
  new MetricFilter(scope, 'Throttles', {
    logGroup: logs,
    filterPattern: FilterPattern.literal('{ $.status = "429" && $.error != "-" }'),
    metricNamespace: METRICS_NAMESPACE,
    metricName: 'ApiThrottles',
    metricValue: '1',
    dimensions: { stage: '$.stage' },
  })
  // No header, no query and no path parameter: a key sent in the wrong place must not end up here.
  const fields = {
    stage: stage.name,
    requestId: '$context.requestId',
    time: '$context.requestTime',
    method: '$context.httpMethod',
    status: '$context.status',
    ip: '$context.identity.sourceIp',
    latencyMs: '$context.responseLatency',
    error: '$context.error.message',
    ...logged,
  }
  new HttpStage(scope, 'Stage', {
    httpApi,
    stageName: '$default',
    autoDeploy: true,
    throttle: { rateLimit, burstLimit: rateLimit },
    accessLogSettings: {
      destination: new LogGroupLogDestination(logs),
      format: AccessLogFormat.custom(JSON.stringify(fields)),
    },
  })
  return logs
}
