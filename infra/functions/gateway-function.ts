import { type Acknowledgment, Aws, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib'
import { ManagedPolicy, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import type { Construct } from 'constructs'
import { bundleFunction } from '#bundles'
import { addLogs } from '../data/retention.ts'
import { beyondLimit, LIMITS } from '../limits.ts'
import { invokeFunction } from '../rights/permissions.ts'
import type { Stage } from '../stages.ts'

/** CDK's types differ on an optional role: undefined or missing. */
type LiveVersion = lambda.Alias & lambda.IFunction

export type GatewayFunctionProps = {
  /** The folder under functions/. */
  readonly name: string
  readonly description: string
  readonly stage: Stage
  readonly memoryMb: number
  readonly timeoutSeconds: number
  /** The executions reserved for it; null for those that all functions of the account share. */
  readonly concurrency: number | null
  readonly environment: Readonly<Record<string, string>>
  readonly layers?: readonly lambda.LayerVersion[]
  /** All rights of the function, besides writing its own log. */
  readonly may: readonly PolicyStatement[]
  /** Wildcards in `may`, each with the reason why it is as narrow as it can be. */
  readonly acknowledged: readonly Acknowledgment[]
}

export class GatewayFunction extends lambda.Function {
  #live: LiveVersion | undefined

  constructor(scope: Construct, id: string, props: GatewayFunctionProps) {
    const logs = addLogs(scope, `${id}Logs`, props.stage)
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    super(scope, id, {
      description: props.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: lambda.Code.fromAsset(bundleFunction(props.name)),
      handler: 'index.handler',
      memorySize: props.memoryMb,
      timeout: Duration.seconds(props.timeoutSeconds),
      ...(props.concurrency !== null && { reservedConcurrentExecutions: props.concurrency }),
      // --enable-source-maps is off: reading the map costs a third of the loading time. It ships for reading offline.
      environment: props.environment,
      ...(props.layers && { layers: [...props.layers] }),
      logGroup: logs,
      // A START, END and REPORT of each call are left out: Lambda Developer Guide, "Log-level filtering".
      loggingFormat: lambda.LoggingFormat.JSON,
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      applicationLogLevelV2: lambda.ApplicationLogLevel.INFO,
      role,
      // A deployment must not delete a version whose streams have not ended.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    })
    logs.grantWrite(role)
    for (const statement of props.may) role.addToPolicy(statement)
    Validations.of(role).acknowledge(...props.acknowledged)
    role.node.addValidation({ validate: () => tooManyPolicies(role) })
  }

  /** The version that is called, under a name that stays: a deployment with other code or settings moves it to a new one. */
  get live(): LiveVersion {
    const version = this.currentVersion as lambda.IVersion
    this.#live ??= new lambda.Alias(this, 'Live', { aliasName: 'live', version }) as LiveVersion
    return this.#live
  }
  /** Neither Scheduler nor Lambda retries: the next run does the same work. A call that comes twice is harmless. */
  startEvery(minutes: number, roleId = `${this.node.id}SchedulerRole`): void {
    const scope = this.node.scope as Construct
    const every = Duration.minutes(minutes)
    this.live.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: every })
    // Only schedules of this account may use it.
    const group = { service: 'scheduler', resource: 'schedule-group', resourceName: 'default' }
    const conditions = {
      StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': Stack.of(this).formatArn(group) },
    }
    const role = new Role(scope, roleId, { assumedBy: new ServicePrincipal('scheduler.amazonaws.com', { conditions }) })
    role.addToPolicy(invokeFunction(this.live))
    new Schedule(scope, `${this.node.id}Schedule`, {
      schedule: ScheduleExpression.rate(every),
      target: new LambdaInvoke(this.live, { retryAttempts: 0, role: role.withoutPolicyUpdates() }),
    })
  }
}

/** CDK puts what is too long for a role's own policy into managed policies below the role. */
function tooManyPolicies(role: Role): string[] {
  const got = role.node.findAll().filter((it) => it instanceof ManagedPolicy).length
  if (got <= LIMITS.managedPoliciesOfRole) return []
  const advice = 'Take Bedrock models out of the first catalog: each is in the rights of chat and of the admin API.'
  return [beyondLimit('Managed policies of a role', got, LIMITS.managedPoliciesOfRole, advice)]
}
