import type { Construct } from 'constructs'
import { edgeNeedsOf, type Stage } from '../stages.ts'
import { certificateOf } from './domain.ts'
import { Firewall } from './firewall.ts'

/** The resources in us-east-1 that CloudFront uses. */
export type EdgeParts = {
  readonly certificateArn: string | undefined
  readonly webAcl: Part | undefined
  /** Of stacks of their own, whose changes the distribution does not see by itself. */
  readonly contentHash?: string
}

/** On resources that use these parts, with `contentHash`, so that they change with them. */
export const EDGE_PARTS_TAG = 'waybill:edge-parts'

/** A resource in us-east-1, and the stack that has it. */
type Part = { readonly arn: string; readonly stackName: string }

/** Makes each part, of which `make` returns the ARN, in the stack that `partOf` gives it. */
export function addEdgeParts(
  stage: Stage,
  partOf: (part: string, make: (scope: Construct) => string) => Part,
): EdgeParts {
  const { certificate, firewall } = edgeNeedsOf(stage)
  return {
    certificateArn: certificate
      ? partOf('certificate', (scope) => certificateOf(scope, certificate.name, certificate.zone)).arn
      : stage.domain?.certificateArn,
    webAcl: firewall ? partOf('firewall', (scope) => new Firewall(scope, 'Firewall', stage).arn) : undefined,
  }
}
