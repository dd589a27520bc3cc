import { CfnDeletionPolicy, type CfnResource } from 'aws-cdk-lib'
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager'
import { HostedZone, type IHostedZone } from 'aws-cdk-lib/aws-route53'
import type { Construct } from 'constructs'
import type { Zone } from './settings.ts'

/** A certificate that AWS makes and renews by itself, because the domain's zone is in the account. */
export function certificateOf(scope: Construct, name: string, zone: Zone): string {
  const certificate = new Certificate(scope, 'Certificate', {
    domainName: name,
    validation: CertificateValidation.fromDns(zoneOf(scope, 'CertificateZone', zone)),
  })
  // The certificate for a former domain is in use until CloudFront's own stack has been deployed, too.
  const { cfnOptions } = certificate.node.defaultChild as CfnResource
  cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN
  cfnOptions.deletionPolicy = CfnDeletionPolicy.DELETE
  return certificate.certificateArn
}

export function zoneOf(scope: Construct, id: string, { id: hostedZoneId, name: zoneName }: Zone): IHostedZone {
  return HostedZone.fromHostedZoneAttributes(scope, id, { hostedZoneId, zoneName })
}
