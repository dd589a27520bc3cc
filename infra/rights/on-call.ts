import { type Acknowledgment, ArnFormat, type Stack } from 'aws-cdk-lib'
import type { LambdaApplication } from 'aws-cdk-lib/aws-codedeploy'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Tables } from '../data/tables.ts'
import type { GatewayFunction } from '../functions/gateway-function.ts'
import { suspendKeys } from './permissions.ts'
import { wildcard } from './wildcard.ts'

export type OnCall = {
  readonly tables: Tables
  readonly functions: readonly GatewayFunction[]
  readonly logs: readonly ILogGroup[]
  /** The name of the firewall's log, which is in us-east-1. */
  readonly firewallLogs: string | undefined
  /** The application of CodeDeploy, if new code is rolled out by it. */
  readonly rollout: LambdaApplication | undefined
}

/** Actions that IAM knows for no single resource (Service Authorization Reference: CloudWatch, CloudWatch Logs). */
const READ_EVERYWHERE = [
  ...['GetMetricData', 'GetMetricStatistics', 'ListMetrics'].map((action) => `cloudwatch:${action}`),
  ...['DescribeAlarms', 'DescribeAlarmHistory', 'GetDashboard'].map((action) => `cloudwatch:${action}`),
  ...['DescribeLogGroups', 'DescribeQueryDefinitions', 'GetQueryResults', 'StopQuery'].map(
    (action) => `logs:${action}`,
  ),
]
const READ_LOGS = ['FilterLogEvents', 'GetLogEvents', 'DescribeLogStreams', 'StartQuery'].map((it) => `logs:${it}`)
const CONCURRENCY = ['GetFunctionConcurrency', 'PutFunctionConcurrency', 'DeleteFunctionConcurrency']
const DEPLOYMENTS = ['ListDeploymentGroups', 'GetDeploymentGroup', 'ListDeployments', 'GetDeployment', 'StopDeployment']

/**
 * To find a fault and to stop it: logs, metrics, alarms and deployments are read, a rollout is stopped, and a function's
 * concurrency is set; a key is suspended. The description of a function is not among them, because it has the origin
 * secrets.
 */
export function onCallStatements(
  stack: Stack,
  { tables, functions, logs, firewallLogs, rollout }: OnCall,
): PolicyStatement[] {
  const statements = [
    { actions: ['cloudformation:DescribeStacks', 'cloudformation:DescribeStackEvents'], resources: [stack.stackId] },
    { actions: READ_EVERYWHERE, resources: ['*'] },
    // With ":*" at its end, as IAM takes a log group (iam-access-control-overview-cwl in the guide of CloudWatch Logs).
    {
      actions: READ_LOGS,
      resources: [...logs.map((log) => log.logGroupArn), ...(firewallLogs ? [logsInUsEast1(stack, firewallLogs)] : [])],
    },
    {
      actions: CONCURRENCY.map((action) => `lambda:${action}`),
      resources: functions.map((fn) => fn.functionArn),
    },
    // All groups of this application are the stage's own ("CodeDeploy permissions reference" in its guide).
    ...(rollout
      ? [
          {
            actions: DEPLOYMENTS.map((action) => `codedeploy:${action}`),
            resources: [groupsOf(stack, rollout.applicationName)],
          },
        ]
      : []),
  ]
  return [...statements.map((statement) => new PolicyStatement(statement)), suspendKeys(tables)]
}

/** Their wildcards, as cdk-nag names them. */
export function acknowledgedOnCall(stack: Stack, { firewallLogs, rollout }: OnCall): Acknowledgment[] {
  const reasons: [resource: string | undefined, reason: string][] = [
    ['*', 'IAM knows no single resource for these reads. The results of a query have an id that nobody can guess.'],
    [
      rollout && groupsOf(stack, rollout.applicationName),
      'The groups of this one application, which are the stage’s own.',
    ],
    [firewallLogs && logsInUsEast1(stack, firewallLogs), 'The streams of this one log.'],
  ]
  return reasons.flatMap(([resource, reason]) =>
    resource === undefined ? [] : [{ id: wildcard(stack, resource), reason }],
  )
}

function groupsOf(stack: Stack, application: string): string {
  return stack.formatArn({
    service: 'codedeploy',
    resource: 'deploymentgroup',
    resourceName: `${application}/*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  })
}

function logsInUsEast1(stack: Stack, name: string): string {
  return stack.formatArn({
    service: 'logs',
    region: 'us-east-1',
    resource: 'log-group',
    resourceName: `${name}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  })
}
