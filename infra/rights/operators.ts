import { type Acknowledgment, ArnFormat, Stack, Validations } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import type { LambdaApplication } from 'aws-cdk-lib/aws-codedeploy'
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { ADMIN_PATHS, ADMIN_READING_POSTS } from '../../layers/gateway/endpoints.ts'
import { wildcard } from '../acknowledge.ts'
import type { Tables } from '../data/tables.ts'
import type { GatewayFunction } from '../functions/gateway-function.ts'
import { US_EAST_1 } from '../regions.ts'
import type { Stage } from '../stages.ts'
import { arnOf, suspendKeys } from './permissions.ts'

type Props = {
  readonly stage: Stage
  readonly adminApi: HttpApi
  readonly tables: Tables
  readonly functions: readonly GatewayFunction[]
  readonly logs: readonly ILogGroup[]
  readonly firewallLogs: string | undefined
  readonly rollout: LambdaApplication | undefined
}

/** Policies for people, which must be attached to somebody. */
export function addOperators(parent: Construct, props: Props) {
  const scope = new Construct(parent, 'Operators')
  const { stage, adminApi } = props
  const looking = [callsBy('GET'), ...ADMIN_READING_POSTS.map((path) => callsBy('POST', path))]
  const reason = 'Every path of this one API by this method: it has one for each key, request and version.'
  const everyCall = (method: string) => wildcard(scope, callArn(adminApi, callsBy(method)), reason)
  const policy = (id: string, description: string, { statements, acknowledged }: Rights) => {
    const made = new ManagedPolicy(scope, id, { description, statements: [...statements] })
    Validations.of(made).acknowledge(...acknowledged)
    return made
  }
  return {
    reader: policy('WaybillReader', `Reads keys, usage and the catalog of the Waybill stage ${stage.name}`, {
      statements: [findStage(scope), call(adminApi, looking)],
      acknowledged: [everyCall('GET')],
    }),
    operator: policy(
      'WaybillOperator',
      `Operates the Waybill stage ${stage.name}: keys, credits, the catalog, tests of routes`,
      { statements: [findStage(scope), call(adminApi, [callsBy('*')])], acknowledged: [everyCall('*')] },
    ),
    onCall: policy(
      'WaybillOnCall',
      `Finds and stops faults of the Waybill stage ${stage.name}: logs, metrics, rollouts, concurrency`,
      rightsOfOnCall(scope, props),
    ),
  }
}

type Rights = { readonly statements: readonly PolicyStatement[]; readonly acknowledged: readonly Acknowledgment[] }

/** Names the stack by its own id, which CloudFormation checks even if a stack is called by its name. */
function findStage(scope: Construct, ...more: string[]): PolicyStatement {
  const actions = ['cloudformation:DescribeStacks', ...more]
  return new PolicyStatement({ actions, resources: [Stack.of(scope).stackId] })
}

/** The description of a function is not among them, because it has the origin secrets. */
function rightsOfOnCall(scope: Construct, { tables, functions, logs, firewallLogs, rollout }: Props): Rights {
  // With ":*" at its end, as IAM takes a log group (iam-access-control-overview-cwl in the guide of CloudWatch Logs).
  const firewall = firewallLogs && arnOf(scope, 'logs', 'log-group', `${firewallLogs}:*`, US_EAST_1)
  // All groups of this application are the stage's own ("CodeDeploy permissions reference" in its guide).
  const groups = rollout && arnOf(scope, 'codedeploy', 'deploymentgroup', `${rollout.applicationName}/*`)
  const logArns = [...logs.map((log) => log.logGroupArn), ...(firewall ? [firewall] : [])]
  const everywhere =
    'IAM knows no single resource for these reads. The results of a query have an id that nobody can guess.'
  return {
    statements: [
      findStage(scope, 'cloudformation:DescribeStackEvents'),
      new PolicyStatement({ actions: READ_EVERYWHERE, resources: ['*'] }),
      new PolicyStatement({ actions: READ_LOGS, resources: logArns }),
      new PolicyStatement({ actions: CONCURRENCY, resources: functions.map((fn) => fn.functionArn) }),
      ...(groups ? [new PolicyStatement({ actions: DEPLOYMENTS, resources: [groups] })] : []),
      suspendKeys(tables),
    ],
    acknowledged: [
      wildcard(scope, '*', everywhere),
      ...(groups ? [wildcard(scope, groups, 'The groups of this one application, which are the stage’s own.')] : []),
      ...(firewall ? [wildcard(scope, firewall, 'The streams of this one log.')] : []),
    ],
  }
}

const actionsOf = (service: string, names: string) => names.split(' ').map((name) => `${service}:${name}`)

/** Actions that IAM knows for no single resource (Service Authorization Reference: CloudWatch, CloudWatch Logs). */
const READ_EVERYWHERE = [
  ...actionsOf('cloudwatch', 'GetMetricData GetMetricStatistics ListMetrics'),
  ...actionsOf('cloudwatch', 'DescribeAlarms DescribeAlarmHistory GetDashboard'),
  ...actionsOf('logs', 'DescribeLogGroups DescribeQueryDefinitions GetQueryResults StopQuery'),
]
const READ_LOGS = actionsOf('logs', 'FilterLogEvents GetLogEvents DescribeLogStreams StartQuery')
const CONCURRENCY = actionsOf('lambda', 'GetFunctionConcurrency PutFunctionConcurrency DeleteFunctionConcurrency')
const READ_ROLLOUTS = 'ListDeploymentGroups GetDeploymentGroup ListDeployments GetDeployment'
const DEPLOYMENTS = actionsOf('codedeploy', `${READ_ROLLOUTS} StopDeployment`)

function call(api: HttpApi, calls: readonly string[]): PolicyStatement {
  return new PolicyStatement({ actions: ['execute-api:Invoke'], resources: calls.map((one) => callArn(api, one)) })
}

const callsBy = (method: string, path = '/*') => `$default/${method}${ADMIN_PATHS.signed}${path}`

function callArn(api: HttpApi, call: string): string {
  const [service, arnFormat] = ['execute-api', ArnFormat.NO_RESOURCE_NAME]
  return Stack.of(api).formatArn({ service, resource: `${api.apiId}/${call}`, arnFormat })
}
