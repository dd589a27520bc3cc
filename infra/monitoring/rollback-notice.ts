import type { LambdaApplication } from 'aws-cdk-lib/aws-codedeploy'
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events'
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets'
import type { Construct } from 'constructs'
import type { Stage } from '../stages.ts'
import { describe, type Words } from './rule.ts'
import { addNoticeTopic } from './topics.ts'

const NAME = 'RolledBack'
const WORDS: Words = {
  says: 'A deployment failed or was stopped, and the version before has all calls again',
  remedy: 'The alarm that went off before it; the deployment in CodeDeploy; then `smoke`.',
}

/** The states are those of "Monitoring deployments with Amazon CloudWatch Events" in CodeDeploy's guide. */
export function addRollbackNotice(scope: Construct, stage: Stage, { applicationName }: LambdaApplication): void {
  const description = describe(stage, NAME, WORDS)
  const event = ['state', 'deploymentGroup', 'deploymentId'].map((field) => EventField.fromPath(`$.detail.${field}`))
  new Rule(scope, NAME, {
    description,
    eventPattern: {
      source: ['aws.codedeploy'],
      detailType: ['CodeDeploy Deployment State-change Notification'],
      detail: { application: [applicationName], state: ['FAILURE', 'STOP'] },
    },
    targets: [
      new SnsTopic(addNoticeTopic(scope, stage), {
        message: RuleTargetInput.fromText(`${description}\n${event.join(' ')}`),
      }),
    ],
  })
}
