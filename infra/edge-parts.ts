import type { Construct } from 'constructs'
import { certificateOf } from './certificate.ts'
import { edgeNeedsOf } from './edge-needs.ts'
import { Firewall } from './firewall.ts'
import type { Stage } from './stages.ts'

/** The resources in us-east-1 that CloudFront uses. */
export type EdgeParts = { readonly certificateArn: string | undefined; readonly webAclArn: string | undefined }

/** For a stack that is in us-east-1 itself. */
export function addEdgeParts(scope: Construct, stage: Stage): EdgeParts {
  const { certificate, firewall } = edgeNeedsOf(stage)
  return {
    certificateArn: certificate
      ? certificateOf(scope, certificate.name, certificate.zone)
      : stage.domain?.certificateArn,
    webAclArn: firewall ? new Firewall(scope, 'Firewall', stage).arn : undefined,
  }
}
