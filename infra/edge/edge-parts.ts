import type { Construct } from 'constructs'
import { edgeNeedsOf, type Stage } from '../stages.ts'
import { certificateOf } from './domain.ts'
import { Firewall } from './firewall.ts'

/** The resources in us-east-1 that CloudFront uses. */
export type EdgeParts = {
  readonly certificateArn: string | undefined
  readonly webAclArn: string | undefined
  /** Of stacks of their own, whose changes the distribution does not see by itself. */
  readonly contentHash?: string
}

/** Makes each part in the stack that `partOf` gives it, and returns its ARN. */
export function addEdgeParts(
  stage: Stage,
  partOf: (part: string, make: (scope: Construct) => string) => string,
): EdgeParts {
  const { certificate, firewall } = edgeNeedsOf(stage)
  return {
    certificateArn: certificate
      ? partOf('certificate', (scope) => certificateOf(scope, certificate.name, certificate.zone))
      : stage.domain?.certificateArn,
    webAclArn: firewall ? partOf('firewall', (scope) => new Firewall(scope, 'Firewall', stage).arn) : undefined,
  }
}
