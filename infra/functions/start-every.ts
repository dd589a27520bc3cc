import { Aws, Duration, Stack } from 'aws-cdk-lib'
import { type IRole, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import type { Construct } from 'constructs'
import { invokeFunction } from '../rights/permissions.ts'
import type { GatewayFunction } from './gateway-function.ts'

type Ids = { readonly schedule: string; readonly role: string }

/**
 * Neither Scheduler, which hands the call to Lambda's queue, nor Lambda, which takes it from there, retries: the next
 * run does the same work. The queue may still deliver a call twice, which is harmless.
 */
export function startEvery(scope: Construct, everyMinutes: number, fn: GatewayFunction, ids: Ids): void {
  const every = Duration.minutes(everyMinutes)
  fn.live.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: every })
  new Schedule(scope, ids.schedule, {
    schedule: ScheduleExpression.rate(every),
    target: new LambdaInvoke(fn.live, { retryAttempts: 0, role: schedulerRole(scope, ids.role, fn) }),
  })
}

/** May invoke the one function and nothing else, and only for schedules of this account. */
function schedulerRole(scope: Construct, id: string, fn: GatewayFunction): IRole {
  const group = { service: 'scheduler', resource: 'schedule-group', resourceName: 'default' }
  const conditions = {
    StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': Stack.of(scope).formatArn(group) },
  }
  const assumedBy = new ServicePrincipal('scheduler.amazonaws.com', { conditions })
  const role = new Role(scope, id, { assumedBy })
  role.addToPolicy(invokeFunction(fn.live))
  return role.withoutPolicyUpdates()
}
