import { createHash } from 'node:crypto'
import { Stage as CdkStage, CfnOutput, CfnResource, Fn, Lazy, Stack, Tags, Token } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { OUTPUTS } from '../../layers/gateway/names.ts'
import { addEdgeMonitoring } from '../monitoring/monitoring.ts'
import { setFeatureFlags } from '../placement.ts'
import { US_EAST_1 } from '../regions.ts'
import { edgeNeedsOf, type Stage } from '../stages.ts'
import { certificateOf } from './domain.ts'
import { addEdgeLogs } from './edge-logs.ts'
import { addFirewall } from './firewall.ts'

export type EdgeParts = {
  readonly certificateArn: string | undefined
  readonly webAcl: Part | undefined
  /** The hash of parts in stacks of their own, whose changes the distribution does not see by itself. */
  readonly contentHash?: string
}

type Part = { readonly arn: string; readonly stackName: string }

/** On resources that use these parts, with `contentHash`, so that they change with them. */
export const EDGE_PARTS_TAG = 'waybill:edge-parts'

export function addEdgeParts(
  stage: Stage,
  partOf: (part: string, make: (scope: Construct) => string) => Part,
): EdgeParts {
  const { certificate, firewall } = edgeNeedsOf(stage)
  return {
    certificateArn: certificate
      ? partOf('certificate', (scope) => certificateOf(scope, certificate)).arn
      : stage.domain?.certificateArn,
    webAcl: firewall ? partOf('firewall', (scope) => addFirewall(scope, stage)) : undefined,
  }
}

const ARN = 'Arn'

/** A small stack for each part that CloudFront needs there: one that is switched off is only left out, and can be deleted. */
export function stacksInUsEast1(main: Stack, stage: Stage, region: string) {
  const before: Stack[] = []
  /** Its ARN is read when the main stack is deployed, which is after this one. */
  const partOf = (part: string, make: (stack: Stack) => string) => {
    const stack = add(part)
    new CfnOutput(stack, ARN, { value: make(stack) })
    main.addStackDependency(stack)
    before.push(stack)
    return { arn: Fn.getStackOutput(stack.stackName, ARN, US_EAST_1), stackName: stack.stackName }
  }
  const parts = { ...addEdgeParts(stage, partOf), contentHash: contentHashOf(before) }
  return { parts, watch }

  /** Logs the requests of the gateway's distribution and watches it, by stacks that are deployed after it. */
  function watch(): void {
    const distributionId = Fn.getStackOutput(main.stackName, OUTPUTS.distributionId, region)
    const { logs, alarms } = edgeNeedsOf(stage)
    const addAfter = (part: string) => {
      const stack = add(part)
      stack.addStackDependency(main)
      return stack
    }
    if (logs) addEdgeLogs(addAfter('edge-logs'), stage, distributionId)
    if (!alarms) return
    const monitoring = addEdgeMonitoring(addAfter('edge-alarms'), stage, { ...parts, distributionId })
    Tags.of(monitoring).add(EDGE_PARTS_TAG, parts.contentHash)
  }

  /** A gateway may be in several regions of an account, and all of them have their parts in this one. */
  function add(part: string): Stack {
    const { name } = stage
    const stack = new Stack(CdkStage.of(main) ?? main.node.root, `${main.node.id}-${part}-${region}`, {
      stackName: `${main.stackName}-${part}-${region}`,
      env: { region: US_EAST_1, ...(!Token.isUnresolved(main.account) && { account: main.account }) },
      description: `Waybill ${name} in ${region}: the ${part} of its CloudFront distribution, which has to be in ${US_EAST_1}`,
      tags: { 'waybill:stage': name },
    })
    setFeatureFlags(stack)
    return stack
  }
}

// Another one whenever a resource of these stacks changes. CloudFormation reads the output of another stack only while it
// updates the resource that refers to it (Fn::GetStackOutput in its reference), and tells nobody of a new value.
function contentHashOf(stacks: readonly Stack[]): string {
  const resourcesOf = (stack: Stack) => {
    const resources = stack.node.findAll().filter(CfnResource.isCfnResource)
    return resources.map((it) => stack.resolve(it._toCloudFormation()))
  }
  const textOf = () => JSON.stringify(stacks.map(resourcesOf))
  return Lazy.string({ produce: () => createHash('sha256').update(textOf()).digest('hex').slice(0, 16) })
}
