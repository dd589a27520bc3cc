import { Aws } from 'aws-cdk-lib'
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { acknowledge } from '../acknowledge.ts'
import type { Alarms } from '../monitoring/alarms.ts'
import { addNotice } from '../monitoring/monitoring.ts'
import type { AlarmName } from '../monitoring/words.ts'
import type { Stage } from '../stages.ts'
import type { Functions } from './functions.ts'
import type { GatewayFunction } from './gateway-function.ts'

// The alarms by which a deployment is rolled back: those for faults of our own code. An upstream that fails, or a key
// that a provider refuses, is no reason; and CloudFront's metrics are in one region only.
const TAKE_BACK: readonly AlarmName[] = [
  ...(['ReleaseErrors', 'ChatErrors', 'ServerErrors', 'ApiErrors', 'FunctionErrors', 'SweepStopped'] as const),
]

/**
 * A new version of a function that callers call gets a tenth of the calls for half an hour: twice the time that the
 * slowest of the alarms needs. If one goes off, the version before gets all calls again, and CloudFormation rolls the
 * rest of the deployment back. The sweep and the tokenizer change at once: a tenth of their few calls would prove
 * nothing.
 */
export function addRollout(parent: Construct, stage: Stage, { called, admin }: Functions, all: Alarms) {
  const scope = new Construct(parent, 'Rollout')
  const application = new LambdaApplication(scope, 'Application')
  // "Monitoring deployments with Amazon CloudWatch Events" in CodeDeploy's guide.
  addNotice(scope, stage, 'RolledBack', ['state', 'deploymentGroup', 'deploymentId'], {
    source: ['aws.codedeploy'],
    detailType: ['CodeDeploy Deployment State-change Notification'],
    detail: { application: [application.applicationName], state: ['FAILURE', 'STOP'] },
  })
  const add = (roleId: string, functions: readonly GatewayFunction[], takenBackBy: readonly AlarmName[]) => {
    const role = addRole(scope, roleId, functions)
    for (const fn of functions) {
      const group = new LambdaDeploymentGroup(scope, fn.node.id, {
        application,
        alias: fn.live,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
        alarms: takenBackBy.flatMap((name) => all[name] ?? []),
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
        // CDK would add AWS's own policy, which is for every function of the account.
        role: role.withoutPolicyUpdates(),
      })
      // On its rights too, not only on its name.
      group.node.addDependency(role)
    }
  }
  add('Role', called, TAKE_BACK)
  // Apart: the admin API has chat's address, so chat would wait for itself if its deployment waited for admin's.
  add('AdminRole', [admin], [...TAKE_BACK, 'AdminReleaseErrors', 'AdminErrors'])
  return application
}

/** May move the aliases of these functions and read alarms, and can be assumed only by CodeDeploy in this account. */
function addRole(scope: Construct, id: string, functions: readonly GatewayFunction[]): Role {
  const conditions = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } }
  const role = new Role(scope, id, { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com', { conditions }) })
  role.addToPolicy(
    new PolicyStatement({
      actions: ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
      // It is named: a reference to an alias would wait for the deployment that this role is for.
      resources: functions.flatMap(({ functionArn, live }) => [functionArn, `${functionArn}:${live.aliasName}`]),
    }),
  )
  role.addToPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }))
  const reason = 'CodeDeploy reads the states of alarms; the policy that AWS has for it grants the same.'
  acknowledge(role, 'IAM5[Resource::*]', reason)
  return role
}
