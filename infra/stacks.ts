import { createHash } from 'node:crypto'
import { type App, CfnOutput, CfnResource, Fn, Lazy, Stack, Tags } from 'aws-cdk-lib'
import { OUTPUTS, stackName } from '../layers/gateway/contract.ts'
import { EdgeLogs } from './edge/edge-logs.ts'
import { addEdgeParts, EDGE_PARTS_TAG } from './edge/edge-parts.ts'
import { EdgeMonitoring } from './monitoring/monitoring.ts'
import { WaybillStack } from './stack.ts'
import { edgeNeedsOf, type Stage, US_EAST_1 } from './stages.ts'

/**
 * One stack, if its region is us-east-1 or if it needs nothing there. In another region, the resources that CloudFront
 * needs in us-east-1 are in small stacks there, one for each: a resource that is switched off is then only left out,
 * and can be deleted when CloudFront no longer uses it.
 */
export function addStacks(app: App, stage: Stage, region: string): void {
  if (region === US_EAST_1) {
    new WaybillStack(app, stackName(stage.name), { stage })
    return
  }
  const before: Stack[] = []
  /** Its ARN is read when the main stack is deployed, which is after this one. */
  const partOf = (part: string, make: (stack: Stack) => string) => {
    const stack = stackInUsEast1(app, stage, region, part)
    new CfnOutput(stack, ARN, { value: make(stack) })
    before.push(stack)
    return { arn: Fn.getStackOutput(stack.stackName, ARN, US_EAST_1), stackName: stack.stackName }
  }
  const edgeParts = { ...addEdgeParts(stage, partOf), contentHash: contentHashOf(before) }
  const main = new WaybillStack(app, stackName(stage.name), { stage, edgeParts })
  for (const stack of before) main.addStackDependency(stack)
  const distributionId = Fn.getStackOutput(main.stackName, OUTPUTS.distributionId, region)
  const addAfter = (part: string, make: (stack: Stack) => unknown) => {
    const stack = stackInUsEast1(app, stage, region, part)
    make(stack)
    stack.addStackDependency(main)
  }
  const { logs, alarms } = edgeNeedsOf(stage)
  if (logs) addAfter('edge-logs', (stack) => new EdgeLogs(stack, 'EdgeLogs', { stage, distributionId }))
  if (alarms) {
    const edge = { ...edgeParts, distributionId }
    addAfter('edge-alarms', (stack) => {
      const monitoring = new EdgeMonitoring(stack, 'Monitoring', { stage, edge })
      Tags.of(monitoring).add(EDGE_PARTS_TAG, edgeParts.contentHash)
    })
  }
}

const ARN = 'Arn'

/** The stage may be in several regions of an account, and all of them have their parts in this one. */
function stackInUsEast1(app: App, stage: Stage, region: string, part: string): Stack {
  return new Stack(app, `${stackName(stage.name)}-${part}-${region}`, {
    env: { region: US_EAST_1 },
    description: `Waybill ${stage.name} in ${region}: the ${part} of its CloudFront distribution, which has to be in ${US_EAST_1}`,
    tags: { 'waybill:stage': stage.name },
  })
}

/**
 * Another one whenever a resource of these stacks changes. CloudFormation reads the output of another stack only while it
 * updates the resource that refers to it (Fn::GetStackOutput in its reference), and tells nobody of a new value.
 */
function contentHashOf(stacks: readonly Stack[]): string {
  const resourcesOf = (stack: Stack) =>
    stack.node
      .findAll()
      .filter(CfnResource.isCfnResource)
      .map((it) => stack.resolve(it._toCloudFormation()))
  const produce = () =>
    createHash('sha256')
      .update(JSON.stringify(stacks.map(resourcesOf)))
      .digest('hex')
      .slice(0, 16)
  return Lazy.string({ produce })
}
